import { Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import { QueryResult, Empty } from '../component/query-result.tsx';
import { Facts } from '../component/facts.tsx';
import { VerdictPill, verdictMeaning } from '../queue/failed-tests.tsx';
import { HealthPill, Pill } from '../component/pill.tsx';
import { TestLocation, TestLink } from '../test-health/test-list.tsx';
import { CiRunLink, UploadPills } from '../test-health/upload-state.tsx';
import { Section } from '../component/section.tsx';
import { RepoBreadcrumbs } from '../component/breadcrumbs.tsx';
import { formatInstant, shortSha } from '../format.ts';
import { formatRepoPath, type Repo, parseRepoPath } from '../name.ts';
import { useQueues, useSession } from '../api/query.ts';

const route = getRouteApi('/uploads/$id');

type UploadPageData = ResponseOf<'getUpload'>['upload'];

export function UploadPage() {
  const { id } = route.useParams();
  const { repo: path = '' } = route.useSearch();
  const { organization } = useSession();
  const repo = parseRepoPath(path);
  const found = useQuery({
    queryKey: ['uploads', path, 'one', id],
    queryFn: () => call('getUpload', { repo, org_url_slug: organization.slug, upload_id: id }),
    // The result changes until the upload is processed.
    refetchInterval: ({ state }) => (isProcessed(state.data?.upload) ? false : 3_000),
  });
  return (
    <Stack>
      <title>Upload · Signalbox</title>
      <RepoBreadcrumbs from="/uploads" repo={repo} />
      <QueryResult query={found} loading="Loading the upload">
        {({ upload }) => <Body repo={repo} upload={upload} />}
      </QueryResult>
    </Stack>
  );
}

const isProcessed = (upload: UploadPageData | undefined): boolean =>
  upload?.state === 'ingested' || upload?.state === 'failed';

const Body = ({ repo, upload }: { readonly repo: Repo; readonly upload: UploadPageData }) => (
  <>
    <div>
      <Title order={1} size="h2" className="break">
        {upload.job || 'Upload without a job name'} {upload.variant !== '' && `(${upload.variant})`}
      </Title>
      <Group gap="sm" mt="xs">
        <UploadPills upload={upload} />
      </Group>
    </div>
    <UploadAdvice upload={upload} />
    <UploadLinks repo={repo} upload={upload} />
    <Counts upload={upload} />
    <Section id="problems" title="Problems in this upload">
      <Problems problems={upload.problems} />
    </Section>
    <Section id="failures" title="Failed tests">
      <Failures repo={repo} upload={upload} />
    </Section>
    <Text size="xs" c="dimmed" className="break">
      {formatRepoPath(repo)} · {upload.id}
    </Text>
  </>
);

/** What the state of an upload means for its sender. */
function UploadAdvice({ upload }: { readonly upload: UploadPageData }) {
  const steps: readonly (string | false)[] = [
    upload.state === 'awaited' &&
      'Signalbox issued an upload URL but received no report. If the job is over, check its log for a failed upload.',
    upload.state === 'stored' &&
      'Signalbox processes the upload within seconds. If the state does not change, check that a worker is running.',
    upload.state === 'failed' &&
      'Signalbox could not use anything in this upload. Fix the problems listed below and upload again.',
    upload.trust === 'untrusted' &&
      'The upload used an upload-only token, as forks do. Its results are shown but never change the status of a test.',
    upload.is_suspect &&
      'Far more tests failed than is usual for this job. The results are excluded from failure rates.',
    !upload.is_complete &&
      upload.state === 'ingested' &&
      'Part of the results is missing. The reason is listed below.',
  ];
  return steps.filter(Boolean).map((step) => (
    <Text key={String(step)} className="why">
      {step}
    </Text>
  ));
}

/** Links: CI, the pull request in each queue of the repository, an earlier upload of the same content. */
function UploadLinks({ repo, upload }: { readonly repo: Repo; readonly upload: UploadPageData }) {
  const queues = useQueues().data ?? [];
  const branches = queues.filter((queue) => formatRepoPath(queue.repo) === formatRepoPath(repo));
  return (
    <Text component="div" className="break">
      {upload.branch || 'unknown branch'} at <code>{shortSha(upload.sha) || 'unknown commit'}</code>
      {upload.pr !== null && branches.length === 0 && ` · pull request #${upload.pr}`}
      {upload.pr !== null &&
        branches.map(({ targetBranch }) => (
          <span key={targetBranch}>
            {' · '}
            <Link
              to="/pull-request"
              search={{ repo: formatRepoPath(repo), branch: targetBranch, number: upload.pr ?? 0 }}
            >
              pull request #{upload.pr} in {targetBranch}
            </Link>
          </span>
        ))}
      <CiRunLink upload={upload} />
      {upload.duplicate_of !== null && (
        <>
          {' · '}
          <Link
            to="/uploads/$id"
            params={{ id: upload.duplicate_of }}
            search={{ repo: formatRepoPath(repo) }}
          >
            earlier upload with the same content
          </Link>
        </>
      )}
    </Text>
  );
}

const Counts = ({ upload }: { readonly upload: UploadPageData }) => (
  <Facts
    className="card"
    facts={[
      ['Uploaded', formatInstant(upload.uploaded_at)],
      ['Processed', upload.ingested_at === null ? 'not yet' : formatInstant(upload.ingested_at)],
      ['Tests', String(upload.tests)],
      ['Passed', String(upload.passed)],
      ['Failed', String(upload.failed)],
      ['Flaky', String(upload.flaky)],
      ['Skipped', String(upload.skipped)],
      ['Quarantined', String(upload.quarantined)],
      [
        'Usual number for the job',
        upload.usual_tests === null ? 'not known yet' : String(upload.usual_tests),
      ],
      ['Missing tests', upload.missing_tests === null ? 'not known yet' : String(upload.missing_tests)],
    ]}
  />
);

const Problems = ({ problems }: Pick<UploadPageData, 'problems'>) =>
  problems.length === 0 ? (
    <Text c="dimmed">There are no problems: Signalbox read the whole upload.</Text>
  ) : (
    <ul className="plain">
      {problems.map(({ file, code, message, count }) => (
        <li key={`${file}${code}${message}`} className="row">
          <div className="shrink">
            {file !== '' && (
              <Text size="sm" c="dimmed" className="break">
                {file}
              </Text>
            )}
            <Text className="why">{message}</Text>
          </div>
          <div className="entry-state">
            <code>{code}</code>
            {count > 1 && <Text size="sm">{count} times</Text>}
          </div>
        </li>
      ))}
    </ul>
  );

function describeNoFailures(upload: UploadPageData): string {
  if (!isProcessed(upload)) return 'The upload is not processed yet';
  return upload.is_complete ? 'No failed tests' : 'No failed tests in the part that could be read';
}

function Failures({ repo, upload }: { readonly repo: Repo; readonly upload: UploadPageData }) {
  const { failures } = upload;
  const all = upload.failed + upload.flaky;
  if (failures.length === 0) return <Empty icon="check" title={describeNoFailures(upload)} />;
  return (
    <Stack gap="sm">
      <ul className="plain">
        {failures.map((failure) => (
          <li key={failure.test_case_id} className="row">
            <div className="shrink">
              <TestLink repo={repo} id={failure.test_case_id} name={failure.name} variant={failure.variant} />
              <TestLocation parts={[failure.file, failure.parent, failure.classname]} />
              <div className="summary">{failure.summary}</div>
              <Text size="sm" c="dimmed">
                {verdictMeaning(failure.verdict)}
                {failure.outcome === 'flaky' && '; passed on a retry'}
                {failure.is_known_failure && '; failed this way before'}
              </Text>
            </div>
            <div className="entry-state">
              <VerdictPill verdict={failure.verdict} />
              {failure.is_excused && <Pill icon="shield" label="Excused" tone="calm" />}
              {failure.quarantined && !failure.is_excused && (
                <Pill icon="warning" label="Quarantined, not excused" tone="warn" />
              )}
              <HealthPill status={failure.status} />
            </div>
          </li>
        ))}
      </ul>
      {all > failures.length && (
        <Text size="sm" c="dimmed">
          Showing {failures.length} of {all}, new failures first.
        </Text>
      )}
    </Stack>
  );
}
