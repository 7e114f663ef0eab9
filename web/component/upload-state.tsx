// What became of an upload, in pills and figures.

import { Text } from '@mantine/core';
import type { ResponseOf } from '#contract/endpoint.ts';
import { countOf } from '../format.ts';
import { safeHref } from '../name.ts';
import { Pill } from './state.tsx';

export type Upload = ResponseOf<'listUploads'>['uploads'][number];

export const uploadLooks = {
  awaited: { icon: 'clock', word: 'Not sent yet', tone: 'calm' },
  stored: { icon: 'clock', word: 'Waits to be read', tone: 'busy' },
  ingested: { icon: 'check', word: 'Read', tone: 'good' },
  failed: { icon: 'cross', word: 'Could not be used', tone: 'bad' },
} as const;

export const UploadPills = ({ upload }: { readonly upload: Upload }) => (
  <>
    <Pill {...uploadLooks[upload.state]} />
    {upload.duplicate_of !== null && <Pill icon="dash" word="Same as one before" tone="calm" />}
    {upload.trust === 'untrusted' && <Pill icon="warning" word="Untrusted" tone="warn" />}
    {upload.is_suspect && <Pill icon="warning" word="Suspect: kept out of detection" tone="warn" />}
    {!upload.is_complete && upload.state === 'ingested' && (
      <Pill icon="warning" word="Incomplete" tone="warn" />
    )}
  </>
);

export function RunInCi({ upload }: { readonly upload: Pick<Upload, 'url'> }) {
  const href = safeHref(upload.url);
  if (href === undefined) return null;
  return (
    <>
      {' · '}
      <a href={href} target="_blank" rel="noreferrer">
        run in CI
      </a>
    </>
  );
}

export const UploadCounts = ({ upload }: { readonly upload: Upload }) => (
  <Text size="sm">
    {countOf(upload.tests, 'test')}: {upload.passed} passed, {upload.failed} failed, {upload.flaky} flaky,{' '}
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
