// How often the verdicts on the tests of a repository were confirmed or overturned by what came later.

import { Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { accuracyTexts, describeAccuracy } from '#contract/text/accuracy.ts';
import { call } from '../api/api.ts';
import { PageBreadcrumbs } from '../component/breadcrumbs.tsx';
import { QueryResult } from '../component/query-result.tsx';
import { RepoChoice } from '../component/repo-choice.tsx';
import { formatRepoPath, type Repo } from '../name.ts';
import { useSession } from '../api/query.ts';

const route = getRouteApi('/tests/accuracy');

export function AccuracyPage() {
  const { repo } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Stack>
      <title>Accuracy of verdicts · Signalbox</title>
      <PageBreadcrumbs from="/tests">
        <Text>Accuracy</Text>
      </PageBreadcrumbs>
      <Title order={1} size="h2">
        Accuracy of verdicts
      </Title>
      <RepoChoice chosen={repo} onChoose={(path) => void navigate({ search: { repo: path } })}>
        {(chosen) => <Accuracy key={formatRepoPath(chosen)} repo={chosen} />}
      </RepoChoice>
    </Stack>
  );
}

type Verdicts = ResponseOf<'getTestAccuracy'>['verdicts'][number];

function Accuracy({ repo }: { readonly repo: Repo }) {
  const { organization } = useSession();
  const accuracy = useQuery({
    queryKey: ['tests', formatRepoPath(repo), 'accuracy'],
    queryFn: () => call('getTestAccuracy', { repo, org_url_slug: organization.slug }),
  });
  return (
    <QueryResult query={accuracy} loading="Loading the accuracy of verdicts">
      {({ days, is_cut: isCut, verdicts }) => (
        <Stack>
          <Text>
            What came after the verdicts of the last {days} days on the tests of this repository.
            {isCut && ' There are more verdicts; the newest are counted.'}
          </Text>
          {verdicts.map((one) => (
            <VerdictCard key={one.kind} verdicts={one} />
          ))}
        </Stack>
      )}
    </QueryResult>
  );
}

function VerdictCard({ verdicts }: { readonly verdicts: Verdicts }) {
  const text = accuracyTexts[verdicts.kind];
  return (
    <section className="card" aria-label={text.title}>
      <Stack gap="xs">
        <Title order={2} size="h4">
          {text.title}
        </Title>
        <Text fw={verdicts.share === null ? 400 : 600}>{describeAccuracy(verdicts)}</Text>
        {verdicts.share !== null && <Interval share={verdicts.share} />}
        <dl className="accuracy">
          <Outcome name="Confirmed" count={verdicts.confirmed} meaning={text.confirmed} />
          <Outcome name="Overturned" count={verdicts.overturned} meaning={text.overturned} />
          <Outcome name="Open" count={verdicts.open} meaning="Neither has happened, or it is not known." />
        </dl>
        {text.note !== undefined && (
          <Text size="sm" c="dimmed">
            {text.note}
          </Text>
        )}
      </Stack>
    </section>
  );
}

type OutcomeProps = { readonly name: string; readonly count: number; readonly meaning: string };

const Outcome = ({ name, count, meaning }: OutcomeProps) => (
  <div>
    <dt>
      <Group gap="xs">
        <strong>{count}</strong> {name}
      </Group>
    </dt>
    <dd>{meaning}</dd>
  </div>
);

/** The sentence above has the same figures. */
const Interval = ({ share: { value, low, high } }: { readonly share: NonNullable<Verdicts['share']> }) => (
  <svg className="interval" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden>
    <rect className="interval-track" x={0} y={3} width={100} height={2} />
    <rect
      className="interval-range"
      x={low * 100}
      y={2}
      width={Math.max(0.5, (high - low) * 100)}
      height={4}
    />
    <rect className="interval-value" x={Math.min(99, value * 100 - 0.5)} y={0} width={1} height={8} />
  </svg>
);
