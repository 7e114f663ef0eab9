import { Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import { Answer } from '../component/answer.tsx';
import { type Fact, Facts } from '../component/facts.tsx';
import { MonitorList } from '../component/monitor-list.tsx';
import { Owners } from '../component/owners.tsx';
import { QuarantineForm } from '../component/quarantine-form.tsx';
import { HealthPill, Pill } from '../component/state.tsx';
import { TestActions, type TestName, useTestName } from '../component/test-action.tsx';
import { TestChanges } from '../component/test-changes.tsx';
import { FailureGroups, HitPullRequests } from '../component/test-failures.tsx';
import { TestStrips } from '../component/test-strip.tsx';
import { Instant, Since } from '../component/time.tsx';
import { Section } from '../component/section.tsx';
import { RepoTrail } from '../component/trail.tsx';
import { percentOf } from '../format.ts';
import { pathOf, type Repo, repoOf, safeHref } from '../name.ts';
import { useMay, useSession } from '../query.ts';

const route = getRouteApi('/tests/$id');

type Test = ResponseOf<'getTestDetails'>['test'];

export function TestPage() {
  const { id } = route.useParams();
  const { repo: path = '' } = route.useSearch();
  const { organization } = useSession();
  const repo = repoOf(path);
  const asked = { repo, org_url_slug: organization.slug, test_id: id };
  const details = useQuery({
    queryKey: ['tests', path, 'details', id],
    queryFn: () => call('getTestDetails', asked),
  });
  const name = useTestName(repo, id);
  return (
    <Stack>
      <title>Test · Signalbox</title>
      <RepoTrail from="/tests" repo={repo} />
      <Answer query={details} loading="Reading the test">
        {({ test }) => (
          <>
            <Head test={test} repo={repo} name={name} />
            <History repo={repo} test={test} name={name} />
          </>
        )}
      </Answer>
    </Stack>
  );
}

type HeadProps = { readonly test: Test; readonly repo: Repo; readonly name: TestName };

function Head({ test, repo, name }: HeadProps) {
  const mayAdminister = useMay('admin');
  return (
    <>
      <div>
        <Title order={1} size="h2" className="break">
          {test.name}
        </Title>
        <Group gap="sm" mt="xs">
          <HealthPill status={test.status.value} />
          {test.quarantined && <Pill icon="shield" word="Quarantined" tone="calm" />}
          {test.manual_status !== null && <Pill icon="warning" word="Marked by a person" tone="calm" />}
          <Text size="sm" c="dimmed">
            <Since at={test.status.timestamp} prefix="for " />
          </Text>
          <Ticket test={test} />
        </Group>
      </div>
      {test.status.reason !== '' && <Text className="why">{test.status.reason}</Text>}
      <QuarantineWords test={test} />
      {mayAdminister && <TestActions test={test} name={name} />}
      <Figures test={test} repo={repo} />
    </>
  );
}

/** A key without a tracker, and what is no address, is shown as text. */
function Ticket({ test }: { readonly test: Test }) {
  const href = safeHref(test.ticket?.html_url);
  if (href === undefined)
    return test.ticket_id === null ? null : (
      <Text size="sm" className="break">{`Ticket ${test.ticket_id}`}</Text>
    );
  return (
    <a href={href} target="_blank" rel="noreferrer">
      Ticket
    </a>
  );
}

const settingWords = {
  ALWAYS_QUARANTINE: 'Always quarantined',
  NEVER_QUARANTINE: 'Never quarantined',
} as const;

function QuarantineWords({ test }: { readonly test: Test }) {
  const { quarantine_setting, quarantine_expires_at, quarantine_owner, quarantine_note } = test;
  if (quarantine_setting === 'AUTO_QUARANTINE') return null;
  return (
    <Text className="why">
      {settingWords[quarantine_setting]}
      {quarantine_expires_at === null ? (
        ' until it is changed'
      ) : (
        <>
          {' until '}
          <Instant at={quarantine_expires_at} />
        </>
      )}
      {quarantine_owner !== null && `, looked after by ${quarantine_owner}`}
      {quarantine_note !== null && `: ${quarantine_note}`}
    </Text>
  );
}

function Figures({ test, repo }: { readonly test: Test; readonly repo: Repo }) {
  const facts: readonly Fact[] = [
    ['Failing, last 24 h', percentOf(test.failure_rate_last_24h)],
    ['Failing, last 7 days', percentOf(test.failure_rate_last_7d)],
    ['Pull requests hit in 7 days', String(test.pull_requests_impacted_last_7d)],
    ['File', test.file_path ?? 'unknown'],
    ['Suite', test.parent ?? 'unknown'],
    ['Class', test.classname ?? 'unknown'],
    ['Variant', test.variant || 'none'],
  ];
  return (
    <div className="card">
      <Facts facts={facts} />
      <Owners owners={test.codeowners} repo={repo} tab={tabOf(test)} />
    </div>
  );
}

const tabOf = ({ status: { value } }: Test) => (value === 'healthy' ? 'flaky' : value);

function History({ repo, test, name }: HeadProps) {
  const mayAdminister = useMay('admin');
  const path = pathOf(repo);
  const { test_case_id: test_id, org_url_slug } = name;
  const history = useQuery({
    queryKey: ['tests', path, 'history', test_id],
    queryFn: () => call('getTestHistory', { repo, org_url_slug, test_id, days: 30 }),
  });
  return (
    <Answer query={history} loading="Reading its history">
      {(known) => (
        <>
          <Section id="strips" title="Last 30 days">
            <TestStrips history={known} />
          </Section>
          <Section id="failures" title="Most common failures">
            <FailureGroups failures={known.failures} />
          </Section>
          <div className="two">
            <Section id="hits" title="Pull requests it hit">
              <HitPullRequests pull_requests={known.pull_requests} repo={repo} />
            </Section>
            <Section id="monitors" title="Monitors">
              <MonitorList test={name} history={known} />
            </Section>
          </div>
          {mayAdminister && (
            <QuarantineForm key={`${test.id} ${test.quarantine_setting}`} name={name} test={test} />
          )}
          <Section id="changes" title="What changed">
            <TestChanges changes={known.changes} repo={repo} />
          </Section>
          <Text size="xs" c="dimmed" className="break">
            {path} · {test.id}
          </Text>
        </>
      )}
    </Answer>
  );
}
