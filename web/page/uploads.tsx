import { Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import { Answer, Empty } from '../component/answer.tsx';
import { Pager } from '../component/pager.tsx';
import { RepoChoice } from '../component/repo-choice.tsx';
import { Pill } from '../component/state.tsx';
import { Ago } from '../component/time.tsx';
import { countOf, shortSha } from '../format.ts';
import { pathOf, type Repo, safeHref } from '../name.ts';
import { useSession } from '../query.ts';

const route = getRouteApi('/uploads');
const pageSize = 25;

type Upload = ResponseOf<'listUploads'>['uploads'][number];

const looks = {
  awaited: { icon: 'clock', word: 'Not sent yet', tone: 'calm' },
  stored: { icon: 'clock', word: 'Waits to be read', tone: 'busy' },
  ingested: { icon: 'check', word: 'Read', tone: 'good' },
  failed: { icon: 'cross', word: 'Could not be used', tone: 'bad' },
} as const;

export function UploadsPage() {
  const { repo } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Stack>
      <title>Uploads · Signalbox</title>
      <Title order={1} size="h2">
        Uploads
      </Title>
      <RepoChoice chosen={repo} onChoose={(path) => void navigate({ search: { repo: path } })}>
        {(chosen) => <Uploads key={pathOf(chosen)} repo={chosen} />}
      </RepoChoice>
    </Stack>
  );
}

function Uploads({ repo }: { readonly repo: Repo }) {
  const { organization } = useSession();
  const [token, setToken] = useState('');
  const uploads = useQuery({
    queryKey: ['uploads', pathOf(repo), token],
    queryFn: () =>
      call('listUploads', {
        repo,
        org_url_slug: organization.slug,
        page_query: { page_size: pageSize, page_token: token },
      }),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
  return (
    <Answer query={uploads} loading="Reading the uploads">
      {({ uploads: list, page }) =>
        list.length === 0 ? (
          <Empty icon="drain" title="No report was uploaded yet">
            CI sends its reports with <code>signalbox upload</code> or with one request: see the guide on
            flaky tests.
          </Empty>
        ) : (
          <Stack gap="sm">
            <ul className="plain">
              {list.map((upload) => (
                <UploadRow key={upload.id} upload={upload} />
              ))}
            </ul>
            <Pager page={page} what="upload" onTurn={setToken} />
          </Stack>
        )
      }
    </Answer>
  );
}

function UploadRow({ upload }: { readonly upload: Upload }) {
  const href = safeHref(upload.url);
  return (
    <li className="row">
      <div className="shrink">
        <Text fw={600} className="break">
          {upload.job || 'no job named'} {upload.variant !== '' && `(${upload.variant})`}
        </Text>
        <Text size="sm" c="dimmed" className="break">
          {upload.branch} at <code>{shortSha(upload.sha)}</code>
          {upload.pr !== null && ` · pull request #${upload.pr}`}
          {href !== undefined && (
            <>
              {' · '}
              <a href={href} target="_blank" rel="noreferrer">
                run in CI
              </a>
            </>
          )}
        </Text>
        <Text size="sm">
          {countOf(upload.tests, 'test')}: {upload.passed} passed, {upload.failed} failed, {upload.flaky}{' '}
          flaky, {upload.skipped} skipped, {upload.quarantined} quarantined
        </Text>
        {upload.problems.map(({ file, code, message, count }) => (
          <Text key={`${file}${code}${message}`} size="sm" className="why">
            {file !== '' && `${file}: `}
            {message}
            {count > 1 && ` (${count} times)`}
          </Text>
        ))}
      </div>
      <div className="entry-state">
        <Pill {...looks[upload.state]} />
        {upload.trust === 'untrusted' && <Pill icon="warning" word="Untrusted" tone="warn" />}
        {upload.is_suspect && <Pill icon="warning" word="Suspect: kept out of detection" tone="warn" />}
        {!upload.is_complete && upload.state === 'ingested' && (
          <Pill icon="warning" word="Incomplete" tone="warn" />
        )}
        <Text size="sm" c="dimmed">
          <Ago at={upload.uploaded_at} />
        </Text>
      </div>
    </li>
  );
}
