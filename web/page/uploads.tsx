import { Checkbox, Group, Select, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { call } from '../api/api.ts';
import { QueryResult, Empty } from '../component/query-result.tsx';
import { Pager } from '../component/pager.tsx';
import { RepoChoice } from '../component/repo-choice.tsx';
import { Ago } from '../component/time.tsx';
import {
  CiRunLink,
  type Upload,
  UploadCounts,
  uploadStyles,
  UploadPills,
  UploadProblems,
} from '../test-health/upload-state.tsx';
import { shortSha } from '../format.ts';
import { formatRepoPath, type Repo } from '../name.ts';
import { useSession } from '../api/query.ts';
import { uploadStates, type UploadsSearch } from '../test-health/test-tab.ts';

const route = getRouteApi('/uploads');
const pageSize = 25;

export function UploadsPage() {
  const { repo, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Stack>
      <title>Uploads · Signalbox</title>
      <Title order={1} size="h2">
        Uploads
      </Title>
      <RepoChoice chosen={repo} onChoose={(path) => void navigate({ search: { repo: path } })}>
        {(chosen) => (
          <>
            <Filter repo={chosen} filter={filter} />
            <Uploads repo={chosen} filter={filter} />
          </>
        )}
      </RepoChoice>
    </Stack>
  );
}

type UploadsProps = { readonly repo: Repo; readonly filter: Omit<UploadsSearch, 'repo'> };

function Filter({ repo, filter: { state, problems } }: UploadsProps) {
  const navigate = route.useNavigate();
  const choose = (next: { readonly state?: UploadsSearch['state']; readonly problems?: boolean }) =>
    void navigate({
      search: {
        repo: formatRepoPath(repo),
        ...(next.state !== undefined && { state: next.state }),
        ...(next.problems === true && { problems: true as const }),
      },
    });
  return (
    <Group align="flex-end">
      <Select
        label="State"
        data={[
          { value: 'any', label: 'Any state' },
          ...uploadStates.map((value) => ({ value, label: uploadStyles[value].label })),
        ]}
        value={state ?? 'any'}
        allowDeselect={false}
        onChange={(value) =>
          choose({ state: uploadStates.find((known) => known === value), problems: problems === true })
        }
      />
      <Checkbox
        label="Only with problems"
        pb="xs"
        checked={problems === true}
        onChange={(event) => choose({ state, problems: event.currentTarget.checked })}
      />
    </Group>
  );
}

function Uploads({ repo, filter: { state, problems, page: token = '' } }: UploadsProps) {
  const { organization } = useSession();
  const navigate = route.useNavigate();
  const isFiltered = state !== undefined || problems === true;
  const uploads = useQuery({
    queryKey: ['uploads', formatRepoPath(repo), state, problems, token],
    queryFn: () =>
      call('listUploads', {
        repo,
        org_url_slug: organization.slug,
        state: state ?? null,
        with_problems: problems === true,
        page_query: { page_size: pageSize, page_token: token },
      }),
    placeholderData: keepPreviousData,
    refetchInterval: 10_000,
  });
  const turn = (next: string) =>
    void navigate({
      search: ({ page: _page, ...rest }) => ({
        ...rest,
        repo: formatRepoPath(repo),
        ...(next !== '' && { page: next }),
      }),
    });
  return (
    <QueryResult query={uploads} loading="Loading the uploads">
      {({ uploads: list, page }) =>
        list.length === 0 ? (
          <NoUploads isFiltered={isFiltered} />
        ) : (
          <Stack gap="sm">
            <ul className="plain">
              {list.map((upload) => (
                <UploadRow key={upload.id} repo={repo} upload={upload} />
              ))}
            </ul>
            <Pager page={page} what="upload" onTurn={turn} />
          </Stack>
        )
      }
    </QueryResult>
  );
}

const NoUploads = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty icon="check" title="No upload matches">
      Choose “Any state” and clear “Only with problems” to see all uploads.
    </Empty>
  ) : (
    <Empty icon="drain" title="No reports uploaded yet">
      CI uploads reports with <code>signalbox upload</code> or with one HTTP request: see the guide on flaky
      tests.
    </Empty>
  );

function UploadRow({ repo, upload }: { readonly repo: Repo; readonly upload: Upload }) {
  return (
    <li className="row">
      <div className="shrink">
        <Link
          to="/uploads/$id"
          params={{ id: upload.id }}
          search={{ repo: formatRepoPath(repo) }}
          className="entry-title"
        >
          {upload.job || '(no job name)'} {upload.variant !== '' && `(${upload.variant})`}
        </Link>
        <Text size="sm" c="dimmed" className="break">
          {upload.branch} at <code>{shortSha(upload.sha)}</code>
          {upload.pr !== null && ` · pull request #${upload.pr}`}
          <CiRunLink upload={upload} />
        </Text>
        <UploadCounts upload={upload} />
        <UploadProblems problems={upload.problems} />
      </div>
      <div className="entry-state">
        <UploadPills upload={upload} />
        <Text size="sm" c="dimmed">
          <Ago at={upload.uploaded_at} />
        </Text>
      </div>
    </li>
  );
}
