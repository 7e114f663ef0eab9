// How a test fails, and whom that hit.

import { Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint.ts';
import { countOf } from '../format.ts';
import { pathOf, type Repo } from '../name.ts';
import { Empty } from './answer.tsx';
import { VerdictPill } from './failed-tests.tsx';
import { Pill } from './state.tsx';
import { Ago, Instant } from './time.tsx';

type History = ResponseOf<'getTestHistory'>;

export const FailureGroups = ({ failures }: Pick<History, 'failures'>) =>
  failures.length === 0 ? (
    <Empty icon="check" title="No failure is kept" />
  ) : (
    <ul className="plain">
      {failures.map((failure) => (
        <li key={failure.fingerprint} className="row">
          <div className="shrink">
            <div className="summary">{failure.summary || 'It says nothing.'}</div>
            {failure.text !== null && failure.text !== failure.summary && (
              <details>
                <summary>The newest one in full</summary>
                <pre className="failure-text">{failure.text}</pre>
              </details>
            )}
          </div>
          <div className="entry-state">
            {failure.is_flake ? (
              <Pill icon="switch" word="Its flake" tone="warn" />
            ) : (
              <Pill icon="cross" word="Not known as a flake" tone="bad" />
            )}
            <Text size="sm">{countOf(failure.occurrence_count, 'time')}</Text>
            <Text size="sm">{countOf(failure.pull_requests, 'pull request')} hit</Text>
            <Text size="sm" c="dimmed">
              last <Ago at={failure.last_occurrence} />
            </Text>
          </div>
        </li>
      ))}
    </ul>
  );

type HitsProps = Pick<History, 'pull_requests'> & { readonly repo: Repo };

export const HitPullRequests = ({ pull_requests, repo }: HitsProps) =>
  pull_requests.length === 0 ? (
    <Empty icon="check" title="No pull request was hit" />
  ) : (
    <Table.ScrollContainer minWidth={420}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            {['Pull request', 'Failures', 'What was told of the last', 'When'].map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {pull_requests.map((hit) => (
            <Table.Tr key={hit.number}>
              <Table.Td>
                <HitName hit={hit} repo={repo} />
              </Table.Td>
              <Table.Td>{hit.failures}</Table.Td>
              <Table.Td>
                <VerdictPill verdict={hit.verdict} />
                {hit.was_quarantined && ' quarantined'}
              </Table.Td>
              <Table.Td>
                {hit.upload_id === null ? (
                  <Instant at={hit.last_failed_at} />
                ) : (
                  <Link to="/uploads/$id" params={{ id: hit.upload_id }} search={{ repo: pathOf(repo) }}>
                    <Instant at={hit.last_failed_at} />
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
const HitName = ({ hit, repo }: { readonly hit: History['pull_requests'][number]; readonly repo: Repo }) =>
  hit.target_branches.length === 0 ? (
    <>#{hit.number}</>
  ) : (
    hit.target_branches.map((branch, index) => (
      <span key={branch}>
        {index > 0 && ', '}
        <Link to="/pull-request" search={{ repo: pathOf(repo), branch, number: hit.number }}>
          #{hit.number}
          {hit.target_branches.length > 1 && ` in ${branch}`}
        </Link>
      </span>
    ))
  );
