// How a test fails, and which pull requests it affected.

import { Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { formatCount } from '../format.ts';
import { formatRepoPath, type Repo } from '../name.ts';
import { Empty } from '../component/query-result.tsx';
import { VerdictPill } from '../queue/failed-tests.tsx';
import { Pill } from '../component/pill.tsx';
import { Ago, Instant } from '../component/time.tsx';

type TestFailureHistory = ResponseOf<'getTestHistory'>;

export const FailureGroups = ({ failures }: Pick<TestFailureHistory, 'failures'>) =>
  failures.length === 0 ? (
    <Empty icon="check" title="No recorded failures" />
  ) : (
    <ul className="plain">
      {failures.map((failure) => (
        <li key={failure.fingerprint} className="row">
          <div className="shrink">
            <div className="summary">{failure.summary || '(no message)'}</div>
            {failure.text !== null && failure.text !== failure.summary && (
              <details>
                <summary>Full text of the latest failure</summary>
                <pre className="failure-text">{failure.text}</pre>
              </details>
            )}
          </div>
          <div className="entry-state">
            {failure.is_flake ? (
              <Pill icon="switch" label="Known flake" tone="warn" />
            ) : (
              <Pill icon="cross" label="Not a known flake" tone="bad" />
            )}
            <Text size="sm">{formatCount(failure.occurrence_count, 'time')}</Text>
            <Text size="sm">{formatCount(failure.pull_requests, 'pull request')} affected</Text>
            <Text size="sm" c="dimmed">
              last <Ago at={failure.last_occurrence} />
            </Text>
          </div>
        </li>
      ))}
    </ul>
  );

type AffectedPullRequestsProps = Pick<TestFailureHistory, 'pull_requests'> & { readonly repo: Repo };

export const AffectedPullRequests = ({ pull_requests, repo }: AffectedPullRequestsProps) =>
  pull_requests.length === 0 ? (
    <Empty icon="check" title="No affected pull requests" />
  ) : (
    <Table.ScrollContainer minWidth={420}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {['Pull request', 'Failures', 'Last verdict', 'Last failure'].map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {pull_requests.map((affected) => (
            <Table.Tr key={affected.number}>
              <Table.Td>
                <AffectedPullRequestLink affected={affected} repo={repo} />
              </Table.Td>
              <Table.Td>{affected.failures}</Table.Td>
              <Table.Td>
                <VerdictPill verdict={affected.verdict} />
                {affected.was_quarantined && ' quarantined'}
              </Table.Td>
              <Table.Td>
                {affected.upload_id === null ? (
                  <Instant at={affected.last_failed_at} />
                ) : (
                  <Link
                    to="/uploads/$id"
                    params={{ id: affected.upload_id }}
                    search={{ repo: formatRepoPath(repo) }}
                  >
                    <Instant at={affected.last_failed_at} />
                  </Link>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );

/** A link for each queue that it was submitted to. */
const AffectedPullRequestLink = ({
  affected,
  repo,
}: {
  readonly affected: TestFailureHistory['pull_requests'][number];
  readonly repo: Repo;
}) =>
  affected.target_branches.length === 0 ? (
    <>#{affected.number}</>
  ) : (
    affected.target_branches.map((branch, index) => (
      <span key={branch}>
        {index > 0 && ', '}
        <Link to="/pull-request" search={{ repo: formatRepoPath(repo), branch, number: affected.number }}>
          #{affected.number}
          {affected.target_branches.length > 1 && ` in ${branch}`}
        </Link>
      </span>
    ))
  );
