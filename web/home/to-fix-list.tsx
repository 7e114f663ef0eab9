// Pull requests that only a person can bring further, those of the signed-in person first: they failed, or are not ready.

import { Button, Group, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import { queuesQuery, useSession } from '../api/query.ts';
import { EntryPill } from '../component/pill.tsx';
import { ErrorAlert } from '../component/query-result.tsx';
import { Ago } from '../component/time.tsx';
import { queueKey, queueSearch } from '../name.ts';
import { describeProblem } from './problem.ts';

const route = getRouteApi('/');

export type HomeSearch = ReturnType<typeof route.useSearch>;
type ToFix = ResponseOf<'listPullRequestsToFix'>['pullRequests'][number];

/** Of one person, what failed is listed over a weekend. */
const ownHours = 72;
const allHours = 24;
const listedMax = 50;
const shownAtFirst = 6;
const refetchMs = 30_000;

export function ToFixList() {
  const isAsked = route.useSearch().whose === 'all';
  const { kind, name } = useSession();
  // A token is no person who could be an author.
  const isOfAll = isAsked || kind === 'token';
  const toFix = useQuery({
    queryKey: [...queuesQuery.queryKey, 'to-fix', isOfAll ? null : name],
    queryFn: () =>
      call('listPullRequestsToFix', {
        ...(!isOfAll && { author: name }),
        failedWithinHours: isOfAll ? allHours : ownHours,
        take: listedMax,
      }),
    refetchInterval: refetchMs,
  });
  const list = toFix.data?.pullRequests;
  return (
    <section aria-labelledby="to-fix">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4" id="to-fix">
          {isOfAll ? 'Needs attention' : 'Needs you'}
        </Title>
        {kind === 'person' && (
          <Link
            to="/"
            search={({ whose: _whose, ...rest }: HomeSearch): HomeSearch =>
              isOfAll ? rest : { ...rest, whose: 'all' }
            }
            className="small"
          >
            {isOfAll ? 'Only mine' : 'Of all authors'}
          </Link>
        )}
      </Group>
      {toFix.error !== null && <ErrorAlert error={toFix.error} />}
      {list?.length === 0 && (
        <Text size="sm" c="dimmed">
          {isOfAll
            ? 'No pull request failed in the last day or is not ready.'
            : `No pull request of ${name} failed in the last three days or is not ready.`}
        </Text>
      )}
      {list !== undefined && list.length > 0 && <Rows list={list} />}
    </section>
  );
}

function Rows({ list }: { readonly list: readonly ToFix[] }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? list : list.slice(0, shownAtFirst);
  return (
    <>
      <ul className="plain to-fix">
        {shown.map((pullRequest) => (
          <Row key={`${queueKey(pullRequest)}#${pullRequest.prNumber}`} pullRequest={pullRequest} />
        ))}
      </ul>
      {shown.length < list.length && (
        <Button variant="default" size="xs" mt="xs" onClick={() => setWhole(true)}>
          Show {list.length - shown.length} more
        </Button>
      )}
    </>
  );
}

function Row({ pullRequest }: { readonly pullRequest: ToFix }) {
  const { repo, targetBranch, prNumber, prTitle, prAuthor, state, stateChangedAt } = pullRequest;
  const problem = describeProblem(pullRequest);
  return (
    <li className="to-fix-row" data-number={prNumber}>
      <EntryPill state={state} />
      <span className="shrink">
        <Link
          to="/pull-request"
          search={{ ...queueSearch(pullRequest), number: prNumber }}
          className="entry-title"
        >
          {prTitle}
        </Link>{' '}
        <span className="small dimmed">
          {repo.owner}/{repo.name} {targetBranch === 'main' ? '' : `${targetBranch} `}#{prNumber} · {prAuthor}
        </span>
      </span>
      <span className="small to-fix-why" title={problem}>
        {problem}
      </span>
      <span className="small dimmed to-fix-since">
        <Ago at={stateChangedAt} />
      </span>
    </li>
  );
}
