// The state of an upload, in pills and numbers.

import { Text } from '@mantine/core';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { formatCount } from '../format.ts';
import { safeHref } from '../name.ts';
import { Pill } from '../component/pill.tsx';

export type Upload = ResponseOf<'listUploads'>['uploads'][number];

export const uploadStyles = {
  awaited: { icon: 'clock', label: 'Waiting for report', tone: 'calm' },
  stored: { icon: 'clock', label: 'Processing', tone: 'busy' },
  ingested: { icon: 'check', label: 'Processed', tone: 'good' },
  failed: { icon: 'cross', label: 'Failed', tone: 'bad' },
} as const;

export const UploadPills = ({ upload }: { readonly upload: Upload }) => (
  <>
    <Pill {...uploadStyles[upload.state]} />
    {upload.duplicate_of !== null && <Pill icon="dash" label="Duplicate" tone="calm" />}
    {upload.trust === 'untrusted' && <Pill icon="warning" label="Untrusted" tone="warn" />}
    {upload.is_suspect && <Pill icon="warning" label="Suspect: excluded from detection" tone="warn" />}
    {!upload.is_complete && upload.state === 'ingested' && (
      <Pill icon="warning" label="Incomplete" tone="warn" />
    )}
  </>
);

export function CiRunLink({ upload }: { readonly upload: Pick<Upload, 'url'> }) {
  const href = safeHref(upload.url);
  if (href === undefined) return null;
  return (
    <>
      {' · '}
      <a href={href} target="_blank" rel="noreferrer">
        CI run
      </a>
    </>
  );
}

export const UploadCounts = ({ upload }: { readonly upload: Upload }) => (
  <Text size="sm">
    {formatCount(upload.tests, 'test')}: {upload.passed} passed, {upload.failed} failed, {upload.flaky} flaky,{' '}
    {upload.skipped} skipped, {upload.quarantined} quarantined
  </Text>
);

export const UploadProblems = ({ problems }: Pick<Upload, 'problems'>) =>
  problems.map(({ file, code, message, count }) => (
    <Text key={`${file}${code}${message}`} size="sm" className="why">
      {file !== '' && `${file}: `}
      {message}
      {count > 1 && ` (${count} times)`}
    </Text>
  ));
