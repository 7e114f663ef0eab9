import { Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import { Answer, Empty } from '../component/answer.tsx';
import { Facts } from '../component/facts.tsx';
import { VerdictPill, verdictMeaning } from '../component/failed-tests.tsx';
import { HealthPill, Pill } from '../component/state.tsx';
import { Place, TestLink } from '../component/test-list.tsx';
import { RunInCi, UploadPills } from '../component/upload-state.tsx';
import { Section } from '../component/section.tsx';
import { RepoTrail } from '../component/trail.tsx';
import { instantOf, shortSha } from '../format.ts';
import { pathOf, type Repo, repoOf } from '../name.ts';
import { useQueues, useSession } from '../query.ts';

const route = getRouteApi('/uploads/$id');

type Upload = ResponseOf<'getUpload'>['upload'];

export function UploadPage() {
  const { id } = route.useParams();
  const { repo: path = '' } = route.useSearch();
  const { organization } = useSession();
  const repo = repoOf(path);
  const found = useQuery({
    queryKey: ['uploads', path, 'one', id],
    queryFn: () => call('getUpload', { repo, org_url_slug: organization.slug, upload_id: id }),
    // Until it is read there is more to come.
    refetchInterval: ({ state }) => (isOver(state.data?.upload) ? false : 3_000),
  });
  return (
    <Stack>
      <title>Upload · Signalbox</title>
      <RepoTrail from="/uploads" repo={repo} />
      <Answer query={found} loading="Reading the upload">
        {({ upload }) => <Body repo={repo} upload={upload} />}
      </Answer>
    </Stack>
  );
}

const isOver = (upload: Upload | undefined): boolean =>
  upload?.state === 'ingested' || upload?.state === 'failed';

const Body = ({ repo, upload }: { readonly repo: Repo; readonly upload: Upload }) => (
  <>
    <div>
      <Title order={1} size="h2" className="break">
        {upload.job || 'Upload without a job'} {upload.variant !== '' && `(${upload.variant})`}
      </Title>
      <Group gap="sm" mt="xs">
        <UploadPills upload={upload} />
      </Group>
    </div>
    <NextStep upload={upload} />
    <Where repo={repo} upload={upload} />
    <Counts upload={upload} />
    <Section id="problems" title="What could not be used, or was mended">
      <Problems problems={upload.problems} />
    </Section>
    <Section id="failures" title="Tests that failed">
      <Failures repo={repo} upload={upload} />
    </Section>
    <Text size="xs" c="dimmed" className="break">
      {pathOf(repo)} · {upload.id}
    </Text>
  </>
);

/** What its state means for whoever sent it. */
function NextStep({ upload }: { readonly upload: Upload }) {
  const steps: readonly (string | false)[] = [
    upload.state === 'awaited' &&
      'An address was given out and nothing came. If the job is over, see its log for an upload that failed.',
    upload.state === 'stored' &&
      'It is read within moments. If it stays so, see whether a worker is running.',
    upload.state === 'failed' &&
      'Nothing in it could be used. What is wrong is told below; mend it and upload again.',
    upload.trust === 'untrusted' &&
      'It came with a token that may only upload, as forks do: it is shown, and judges no test.',
    upload.is_suspect && 'Far more failed than this job ever shows. It is kept out of every rate.',
    !upload.is_complete &&
      upload.state === 'ingested' &&
      'Some of it is missing: what is told below says why.',
  ];
  return steps.filter(Boolean).map((step) => (
    <Text key={String(step)} className="why">
      {step}
    </Text>
  ));
}

/** The pages about it: CI, the pull request in each queue of the repository, the same content before. */
function Where({ repo, upload }: { readonly repo: Repo; readonly upload: Upload }) {
  const queues = useQueues().data ?? [];
  const branches = queues.filter((queue) => pathOf(queue.repo) === pathOf(repo));
  return (
    <Text component="div" className="break">
      {upload.branch || 'no branch'} at <code>{shortSha(upload.sha) || 'no commit'}</code>
      {upload.pr !== null && branches.length === 0 && ` · pull request #${upload.pr}`}
      {upload.pr !== null &&
        branches.map(({ targetBranch }) => (
          <span key={targetBranch}>
            {' · '}
            <Link
              to="/pull-request"
              search={{ repo: pathOf(repo), branch: targetBranch, number: upload.pr ?? 0 }}
            >
              pull request #{upload.pr} in {targetBranch}
            </Link>
          </span>
        ))}
      <RunInCi upload={upload} />
      {upload.duplicate_of !== null && (
        <>
          {' · '}
          <Link to="/uploads/$id" params={{ id: upload.duplicate_of }} search={{ repo: pathOf(repo) }}>
            the upload that had the same content before
          </Link>
        </>
      )}
    </Text>
  );
}

const Counts = ({ upload }: { readonly upload: Upload }) => (
  <Facts
    className="card"
    facts={[
      ['Sent', instantOf(upload.uploaded_at)],
      ['Read', upload.ingested_at === null ? 'not yet' : instantOf(upload.ingested_at)],
      ['Tests', String(upload.tests)],
      ['Passed', String(upload.passed)],
      ['Failed', String(upload.failed)],
      ['Flaky', String(upload.flaky)],
      ['Skipped', String(upload.skipped)],
      ['Quarantined', String(upload.quarantined)],
      ['Usual for the job', upload.usual_tests === null ? 'not known yet' : String(upload.usual_tests)],
      ['Of these missing', upload.missing_tests === null ? 'not known yet' : String(upload.missing_tests)],
    ]}
  />
);

const Problems = ({ problems }: Pick<Upload, 'problems'>) =>
  problems.length === 0 ? (
    <Text c="dimmed">Nothing: all of it was read.</Text>
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

function noFailure(upload: Upload): string {
  if (!isOver(upload)) return 'It is not read yet';
  return upload.is_complete ? 'No test failed' : 'No test failed of those that could be read';
}

function Failures({ repo, upload }: { readonly repo: Repo; readonly upload: Upload }) {
  const { failures } = upload;
  const all = upload.failed + upload.flaky;
  if (failures.length === 0) return <Empty icon="check" title={noFailure(upload)} />;
  return (
    <Stack gap="sm">
      <ul className="plain">
        {failures.map((failure) => (
          <li key={failure.test_case_id} className="row">
            <div className="shrink">
              <TestLink repo={repo} id={failure.test_case_id} name={failure.name} variant={failure.variant} />
              <Place parts={[failure.file, failure.parent, failure.classname]} />
              <div className="summary">{failure.summary}</div>
              <Text size="sm" c="dimmed">
                {verdictMeaning(failure.verdict)}
                {failure.outcome === 'flaky' && '; an attempt passed'}
                {failure.is_known_failure && '; it has failed in this way before'}
              </Text>
            </div>
            <div className="entry-state">
              <VerdictPill verdict={failure.verdict} />
              {failure.is_excused && <Pill icon="shield" word="Excused" tone="calm" />}
              {failure.quarantined && !failure.is_excused && (
                <Pill icon="warning" word="Quarantined, not excused" tone="warn" />
              )}
              <HealthPill status={failure.status} />
            </div>
          </li>
        ))}
      </ul>
      {all > failures.length && (
        <Text size="sm" c="dimmed">
          {failures.length} of {all} are shown, what is new first.
        </Text>
      )}
    </Stack>
  );
}
