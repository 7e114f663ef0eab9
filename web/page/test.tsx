import { Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { heldBackText } from '#contract/text/held-back-text.ts';
import { recoveryText } from '#contract/text/prospect-text.ts';
import { call } from '../api/api.ts';
import { QueryResult } from '../component/query-result.tsx';
import { type NamedFact, Facts } from '../component/facts.tsx';
import { BreakageSection } from '../test-health/breakage.tsx';
import { FixSection } from '../test-health/fix-verification.tsx';
import { MonitorList } from '../test-health/monitor-list.tsx';
import { Owners } from '../test-health/owners.tsx';
import { QuarantineForm } from '../test-health/quarantine-form.tsx';
import { HealthPill, Pill } from '../component/pill.tsx';
import { TestActions, type TestName, useTestName } from '../test-health/test-action.tsx';
import { TestChanges } from '../test-health/test-changes.tsx';
import { FailureGroups, AffectedPullRequests } from '../test-health/test-failures.tsx';
import { RenameNotes } from '../test-health/test-rename.tsx';
import { TestStrips } from '../test-health/test-strip.tsx';
import { TicketLink } from '../test-health/ticket-link.tsx';
import { Instant, Since } from '../component/time.tsx';
import { Section } from '../component/section.tsx';
import { RepoBreadcrumbs } from '../component/breadcrumbs.tsx';
import { formatInstant, formatPercent } from '../format.ts';
import { formatRepoPath, type Repo, parseRepoPath } from '../name.ts';
import { useMay, useSession } from '../api/query.ts';

const route = getRouteApi('/tests/$id');

type TestPageData = ResponseOf<'getTestDetails'>['test'];

export function TestPage() {
  const { id } = route.useParams();
  const { repo: path = '' } = route.useSearch();
  const { organization } = useSession();
  const repo = parseRepoPath(path);
  const request = { repo, org_url_slug: organization.slug, test_id: id };
  const details = useQuery({
    queryKey: ['tests', path, 'details', id],
    queryFn: () => call('getTestDetails', request),
  });
  const name = useTestName(repo, id);
  return (
    <Stack>
      <title>Test · Signalbox</title>
      <RepoBreadcrumbs from="/tests" repo={repo} />
      <QueryResult query={details} loading="Loading the test">
        {({ test, breakage, recovery, fix_verification: fix, renamed_from, renamed_to }) => (
          <>
            <Head test={test} repo={repo} name={name} recovery={recovery} />
            <RenameNotes renamed_from={renamed_from} renamed_to={renamed_to} name={name} />
            <BreakageSection breakage={breakage} />
            <FixSection
              fix={fix}
              name={name}
              isUnhealthy={test.status.value !== 'healthy' && test.manual_status === null}
            />
            <History repo={repo} test={test} name={name} />
          </>
        )}
      </QueryResult>
    </Stack>
  );
}

type TestProps = { readonly test: TestPageData; readonly repo: Repo; readonly name: TestName };
type HeadProps = TestProps & Pick<ResponseOf<'getTestDetails'>, 'recovery'>;

function Head({ test, repo, name, recovery }: HeadProps) {
  const mayAdminister = useMay('admin');
  return (
    <>
      <div>
        <Title order={1} size="h2" className="break">
          {test.name}
        </Title>
        <Group gap="sm" mt="xs">
          <HealthPill status={test.status.value} />
          {test.quarantined && <Pill icon="shield" label="Quarantined" tone="calm" />}
          {test.manual_status !== null && <Pill icon="warning" label="Set manually" tone="calm" />}
          <Text size="sm" c="dimmed">
            <Since at={test.status.timestamp} prefix="for " />
          </Text>
          <TicketLink test={test} />
        </Group>
      </div>
      {test.status.reason !== '' && <Text className="why">{test.status.reason}</Text>}
      {recovery !== null && <Text className="why">{recoveryText(recovery, formatInstant)}</Text>}
      <QuarantineNote test={test} />
      {mayAdminister && <TestActions test={test} name={name} />}
      <TestMetrics test={test} repo={repo} />
    </>
  );
}

const quarantineLabels = {
  ALWAYS_QUARANTINE: 'Always quarantined',
  NEVER_QUARANTINE: 'Never quarantined',
  AUTO_QUARANTINE: 'Quarantined automatically',
} as const;

function QuarantineNote({ test }: { readonly test: TestPageData }) {
  const { quarantine_setting, quarantine_expires_at, quarantine_owners, quarantine_note } = test;
  if (test.quarantine_held_back !== null)
    return <Text className="why">Not quarantined. {heldBackText(test.quarantine_held_back)}</Text>;
  if (quarantine_setting === 'AUTO_QUARANTINE' && !test.quarantined) return null;
  return (
    <Text className="why">
      {quarantineLabels[quarantine_setting]}
      {quarantine_expires_at === null ? (
        ' with no end date'
      ) : (
        <>
          {' until '}
          <Instant at={quarantine_expires_at} />
        </>
      )}
      {quarantine_owners.length > 0 && `, owner ${quarantine_owners.join(', ')}`}
      {quarantine_note !== null && `: ${quarantine_note}`}
    </Text>
  );
}

function TestMetrics({ test, repo }: { readonly test: TestPageData; readonly repo: Repo }) {
  const facts: readonly NamedFact[] = [
    ['Failure rate, last 24 h', formatPercent(test.failure_rate_last_24h)],
    ['Failure rate, last 7 days', formatPercent(test.failure_rate_last_7d)],
    ['Pull requests affected, last 7 days', String(test.pull_requests_impacted_last_7d)],
    ['File', test.file_path ?? 'unknown'],
    ['Suite', test.parent ?? 'unknown'],
    ['Class', test.classname ?? 'unknown'],
    ['Variant', test.variant || 'none'],
  ];
  return (
    <div className="card">
      <Facts facts={facts} />
      <Owners owners={test.codeowners} repo={repo} tab={chooseTestTab(test)} />
    </div>
  );
}

const chooseTestTab = ({ status: { value } }: TestPageData) => (value === 'healthy' ? 'flaky' : value);

function History({ repo, test, name }: TestProps) {
  const mayAdminister = useMay('admin');
  const path = formatRepoPath(repo);
  const { test_case_id: test_id, org_url_slug } = name;
  const history = useQuery({
    queryKey: ['tests', path, 'history', test_id],
    queryFn: () => call('getTestHistory', { repo, org_url_slug, test_id, days: 30 }),
  });
  return (
    <QueryResult query={history} loading="Loading the history of the test">
      {(known) => (
        <>
          <Section id="strips" title="Last 30 days">
            <TestStrips history={known} />
          </Section>
          <Section id="failures" title="Most common failures">
            <FailureGroups failures={known.failures} />
          </Section>
          <div className="two-columns">
            <Section id="affected" title="Affected pull requests">
              <AffectedPullRequests pull_requests={known.pull_requests} repo={repo} />
            </Section>
            <Section id="monitors" title="Monitors">
              <MonitorList test={name} history={known} />
            </Section>
          </div>
          {mayAdminister && (
            <QuarantineForm
              key={`${test.id} ${test.quarantine_setting} ${test.quarantine_expires_at ?? ''}`}
              name={name}
              test={test}
            />
          )}
          <Section id="changes" title="Status changes">
            <TestChanges changes={known.changes} repo={repo} />
          </Section>
          <Text size="xs" c="dimmed" className="break">
            {path} · {test.id}
          </Text>
        </>
      )}
    </QueryResult>
  );
}
