import { Checkbox, Group, Select, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { call } from '../api.ts';
import { Answer, Empty } from '../component/answer.tsx';
import { Pager } from '../component/pager.tsx';
import { RepoChoice } from '../component/repo-choice.tsx';
import { Ago } from '../component/time.tsx';
import {
  RunInCi,
  type Upload,
  UploadCounts,
  uploadLooks,
  UploadPills,
  UploadProblems,
} from '../component/upload-state.tsx';
import { shortSha } from '../format.ts';
import { pathOf, type Repo } from '../name.ts';
import { useSession } from '../query.ts';
import { uploadStates, type UploadsSearch } from '../test-tab.ts';

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
        repo: pathOf(repo),
        ...(next.state !== undefined && { state: next.state }),
        ...(next.problems === true && { problems: true as const }),
      },
    });
  return (
    <Group align="flex-end">
      <Select
        label="State"
        data={[
          { value: 'any', label: 'Any' },
          ...uploadStates.map((value) => ({ value, label: uploadLooks[value].word })),
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
  const isNarrowed = state !== undefined || problems === true;
  const uploads = useQuery({
    queryKey: ['uploads', pathOf(repo), state, problems, token],
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
        repo: pathOf(repo),
        ...(next !== '' && { page: next }),
      }),
    });
  return (
    <Answer query={uploads} loading="Reading the uploads">
      {({ uploads: list, page }) =>
        list.length === 0 ? (
          <NoUploads isNarrowed={isNarrowed} />
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
    </Answer>
  );
}

const NoUploads = ({ isNarrowed }: { readonly isNarrowed: boolean }) =>
  isNarrowed ? (
    <Empty icon="check" title="No upload matches">
      Choose any state, and those without problems too, to see all of them.
    </Empty>
  ) : (
    <Empty icon="drain" title="No report was uploaded yet">
      CI sends its reports with <code>signalbox upload</code> or with one request: see the guide on flaky
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
          search={{ repo: pathOf(repo) }}
          className="entry-title"
        >
          {upload.job || 'no job named'} {upload.variant !== '' && `(${upload.variant})`}
        </Link>
        <Text size="sm" c="dimmed" className="break">
          {upload.branch} at <code>{shortSha(upload.sha)}</code>
          {upload.pr !== null && ` · pull request #${upload.pr}`}
          <RunInCi upload={upload} />
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
