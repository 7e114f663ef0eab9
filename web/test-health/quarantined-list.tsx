// Quarantined tests: how each was quarantined, until when, and how many failures that excused.

import { Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import { formatCount } from '../format.ts';
import { formatRepoPath, type Repo } from '../name.ts';
import { useSession } from '../api/query.ts';
import { QueryResult, Empty } from '../component/query-result.tsx';
import { Facts } from '../component/facts.tsx';
import { Owners } from './owners.tsx';
import { Pager } from '../component/pager.tsx';
import { HealthPill, Pill } from '../component/pill.tsx';
import { buildTestListRequest, TestLocation, TestLink, type TestListProps } from './test-list.tsx';
import { TicketLink } from './ticket-link.tsx';
import { Instant, Since } from '../component/time.tsx';

const soonMs = 7 * 86_400_000;

export function QuarantinedTests(props: TestListProps) {
  const { repo, filter, page: token } = props;
  const { organization } = useSession();
  const tests = useQuery({
    queryKey: ['tests', formatRepoPath(repo), 'quarantined', filter, token],
    queryFn: () => call('listQuarantinedTests', buildTestListRequest(organization.slug, props)),
    placeholderData: keepPreviousData,
  });
  const isFiltered = filter.q !== undefined || filter.owner !== undefined;
  return (
    <Stack gap="sm">
      <Summary repo={repo} />
      <QueryResult query={tests} loading="Loading quarantined tests">
        {({ quarantined_tests: list, page }) =>
          list.length === 0 ? (
            <Empty icon="shield" title={isFiltered ? 'No quarantined test matches' : 'No quarantined tests'}>
              {isFiltered && 'Clear the filter to see all quarantined tests.'}
            </Empty>
          ) : (
            <>
              <ul className="plain">
                {list.map((test) => (
                  <QuarantinedTest key={test.test_case_id} repo={repo} test={test} />
                ))}
              </ul>
              <Pager page={page} what="test" onTurn={props.onTurn} />
            </>
          )
        }
      </QueryResult>
    </Stack>
  );
}

function Summary({ repo }: { readonly repo: Repo }) {
  const { organization } = useSession();
  const summary = useQuery({
    queryKey: ['tests', formatRepoPath(repo), 'quarantine-summary'],
    queryFn: () => call('getQuarantineSummary', { repo, org_url_slug: organization.slug }),
  });
  return (
    <QueryResult query={summary} loading="Loading the quarantine summary">
      {(known) => (
        <>
          {!known.is_enabled && (
            <Text className="why">
              Quarantine is off for this repository: every failure counts. Turn it on in the{' '}
              <Link to="/tests/settings" search={{ repo: formatRepoPath(repo) }}>
                settings
              </Link>
              .
            </Text>
          )}
          <Facts
            className="card"
            facts={[
              ['Quarantined', formatCount(known.quarantined_tests, 'test')],
              ['Held back', formatCount(known.held_back_tests, 'test')],
              ['Set manually', String(known.set_by_people)],
              ['Ending within 7 days', String(known.expiring_within_7d)],
              [
                'Failures excused, last 30 days',
                `${known.failures_excused_last_30d}${known.is_cut ? ' or more' : ''}`,
              ],
              ['Pull requests with an excused failure', String(known.pull_requests_spared_last_30d)],
            ]}
          />
        </>
      )}
    </QueryResult>
  );
}

type QuarantinedTestRow = ResponseOf<'listQuarantinedTests'>['quarantined_tests'][number];

const QuarantinedTest = ({ repo, test }: { readonly repo: Repo; readonly test: QuarantinedTestRow }) => (
  <li className="row">
    <div className="shrink">
      <TestLink repo={repo} id={test.test_case_id} name={test.name} variant={test.variant} />
      <TestLocation parts={[test.file, test.parent, test.classname]} />
      <Text size="sm" className="why">
        {test.quarantine_setting === 'ALWAYS_QUARANTINE'
          ? 'Always, set manually: no failure of this test fails a run.'
          : 'Automatically: known flaky failures of this test do not fail a run.'}
        {describeOwner(test)}
        {test.quarantine_note !== null && ` ${test.quarantine_note}`}
      </Text>
      <Text size="sm">
        {test.failures_excused_last_30d === 0
          ? 'No failures excused in the last 30 days'
          : `${formatCount(test.failures_excused_last_30d, 'failure')} excused in the last 30 days, in ${formatCount(test.pull_requests_spared_last_30d, 'pull request')}`}
      </Text>
      <TicketLink test={test} />
      <Owners owners={test.codeowners} repo={repo} tab="quarantined" />
    </div>
    <div className="entry-state">
      <HealthPill status={test.status.toLowerCase() as Lowercase<typeof test.status>} />
      <Expiry at={test.quarantine_expires_at} />
      <Text size="sm" c="dimmed">
        <Since at={test.quarantined_at} prefix="for " />
      </Text>
    </div>
  </li>
);

/** Code owners are listed with their links. */
function describeOwner({ quarantine_owners: owners, codeowners }: QuarantinedTestRow): string {
  if (owners.length === 0) return ' It has no owner: add its file to CODEOWNERS.';
  return owners.join() === codeowners.join() ? '' : ` Owner: ${owners.join(', ')}.`;
}

function Expiry({ at }: { readonly at: string | null }) {
  if (at === null) return <Text size="sm">no end date</Text>;
  const isSoon = Date.parse(at) - Date.now() < soonMs;
  return (
    <>
      {isSoon && <Pill icon="clock" label="Ends soon" tone="warn" />}
      <Text size="sm">
        until <Instant at={at} />
      </Text>
    </>
  );
}
