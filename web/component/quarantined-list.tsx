// Tests in quarantine: by whose word, until when, and what it saved.

import { Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import { countOf } from '../format.ts';
import { pathOf, type Repo } from '../name.ts';
import { useSession } from '../query.ts';
import { Answer, Empty } from './answer.tsx';
import { Facts } from './facts.tsx';
import { Owners } from './owners.tsx';
import { Pager } from './pager.tsx';
import { HealthPill, Pill } from './state.tsx';
import { listOf, Place, TestLink, type TestListProps } from './test-list.tsx';
import { Instant, Since } from './time.tsx';

const soonMs = 7 * 86_400_000;

export function QuarantinedTests(props: TestListProps) {
  const { repo, filter, page: token } = props;
  const { organization } = useSession();
  const tests = useQuery({
    queryKey: ['tests', pathOf(repo), 'quarantined', filter, token],
    queryFn: () => call('listQuarantinedTests', listOf(organization.slug, props)),
    placeholderData: keepPreviousData,
  });
  const isNarrowed = filter.q !== undefined || filter.owner !== undefined;
  return (
    <Stack gap="sm">
      <Summary repo={repo} />
      <Answer query={tests} loading="Reading quarantined tests">
        {({ quarantined_tests: list, page }) =>
          list.length === 0 ? (
            <Empty
              icon="shield"
              title={isNarrowed ? 'No quarantined test matches' : 'No test is quarantined'}
            >
              {isNarrowed && 'Clear the filter to see all of them.'}
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
      </Answer>
    </Stack>
  );
}

function Summary({ repo }: { readonly repo: Repo }) {
  const { organization } = useSession();
  const summary = useQuery({
    queryKey: ['tests', pathOf(repo), 'quarantine-summary'],
    queryFn: () => call('getQuarantineSummary', { repo, org_url_slug: organization.slug }),
  });
  return (
    <Answer query={summary} loading="Counting what quarantine saved">
      {(known) => (
        <>
          {!known.is_enabled && (
            <Text className="why">
              Quarantine is off for this repository: every failure counts. It is switched on in its{' '}
              <Link to="/tests/settings" search={{ repo: pathOf(repo) }}>
                settings
              </Link>
              .
            </Text>
          )}
          <Facts
            className="card"
            facts={[
              ['Quarantined', countOf(known.quarantined_tests, 'test')],
              ['Of these by a person', String(known.set_by_people)],
              ['End within 7 days', String(known.expiring_within_7d)],
              [
                'Failures excused in 30 days',
                `${known.failures_excused_last_30d}${known.is_cut ? ' or more' : ''}`,
              ],
              ['Pull requests that had one', String(known.pull_requests_spared_last_30d)],
            ]}
          />
        </>
      )}
    </Answer>
  );
}

type Quarantined = ResponseOf<'listQuarantinedTests'>['quarantined_tests'][number];

const QuarantinedTest = ({ repo, test }: { readonly repo: Repo; readonly test: Quarantined }) => (
  <li className="row">
    <div className="shrink">
      <TestLink repo={repo} id={test.test_case_id} name={test.name} variant={test.variant} />
      <Place parts={[test.file, test.parent, test.classname]} />
      <Text size="sm" className="why">
        {test.quarantine_setting === 'ALWAYS_QUARANTINE'
          ? 'Always, by a person: none of its failures fails a run.'
          : 'By its health: failures that are known as its flake do not fail a run.'}
        {test.quarantine_owner !== null && ` Looked after by ${test.quarantine_owner}.`}
        {test.quarantine_note !== null && ` ${test.quarantine_note}`}
      </Text>
      <Text size="sm">
        {test.failures_excused_last_30d === 0
          ? 'No failure was excused in 30 days'
          : `Excused ${countOf(test.failures_excused_last_30d, 'failure')} in 30 days, of ${countOf(test.pull_requests_spared_last_30d, 'pull request')}`}
      </Text>
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

function Expiry({ at }: { readonly at: string | null }) {
  if (at === null) return <Text size="sm">no end set</Text>;
  const isSoon = Date.parse(at) - Date.now() < soonMs;
  return (
    <>
      {isSoon && <Pill icon="clock" word="Ends soon" tone="warn" />}
      <Text size="sm">
        until <Instant at={at} />
      </Text>
    </>
  );
}
