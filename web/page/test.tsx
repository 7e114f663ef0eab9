import { Anchor, Breadcrumbs, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import { Answer, Empty } from '../component/answer.tsx';
import { type Fact, Facts } from '../component/facts.tsx';
import { QuarantineForm } from '../component/quarantine-form.tsx';
import { HealthPill, Pill } from '../component/state.tsx';
import { Instant, Since } from '../component/time.tsx';
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
  const details = useQuery({
    queryKey: ['tests', path, 'details', id],
    queryFn: () => call('getTestDetails', { repo, org_url_slug: organization.slug, test_id: id }),
  });
  return (
    <Stack>
      <title>Test · Signalbox</title>
      <Breadcrumbs>
        <Anchor component={Link} to="/tests">
          Tests
        </Anchor>
        <Link to="/tests" search={{ repo: path }}>
          {repo.owner}/{repo.name}
        </Link>
      </Breadcrumbs>
      <Answer query={details} loading="Reading the test">
        {({ test }) => <Body repo={repo} test={test} />}
      </Answer>
    </Stack>
  );
}

function Body({ repo, test }: { readonly repo: Repo; readonly test: Test }) {
  const mayAdminister = useMay('admin');
  const ticket = safeHref(test.ticket?.html_url);
  return (
    <>
      <div>
        <Title order={1} size="h2" className="break">
          {test.name}
        </Title>
        <Group gap="sm" mt="xs">
          <HealthPill status={test.status.value} />
          {test.quarantined && <Pill icon="shield" word="Quarantined" tone="calm" />}
          <Text size="sm" c="dimmed">
            <Since at={test.status.timestamp} prefix="for " />
          </Text>
          {ticket !== undefined && (
            <a href={ticket} target="_blank" rel="noreferrer">
              Ticket
            </a>
          )}
        </Group>
      </div>
      {test.status.reason !== '' && <Text className="why">{test.status.reason}</Text>}
      <Figures test={test} />
      <section aria-labelledby="failures">
        <Title order={2} size="h4" id="failures" mb="xs">
          Most common failures
        </Title>
        <Failures failures={test.most_common_failures} />
      </section>
      {mayAdminister && <QuarantineForm key={test.id} repo={repo} test={test} />}
      <Text size="xs" c="dimmed" className="break">
        {pathOf(repo)} · {test.id}
      </Text>
    </>
  );
}

function Figures({ test }: { readonly test: Test }) {
  const facts: readonly Fact[] = [
    ['Failing, last 24 h', percentOf(test.failure_rate_last_24h)],
    ['Failing, last 7 days', percentOf(test.failure_rate_last_7d)],
    ['Pull requests hit in 7 days', String(test.pull_requests_impacted_last_7d)],
    ['File', test.file_path ?? 'unknown'],
    ['Suite', test.parent ?? 'unknown'],
    ['Class', test.classname ?? 'unknown'],
    ['Variant', test.variant || 'none'],
    ['Owners', test.codeowners.join(', ') || 'none'],
  ];
  return <Facts className="card" facts={facts} />;
}

function Failures({ failures }: { readonly failures: Test['most_common_failures'] }) {
  if (failures.length === 0) return <Empty icon="check" title="No failure is kept" />;
  return (
    <Table.ScrollContainer minWidth={320}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>How it fails</Table.Th>
            <Table.Th>Times</Table.Th>
            <Table.Th>Last</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {failures.map(({ summary, occurrence_count, last_occurrence }) => (
            <Table.Tr key={summary}>
              <Table.Td className="summary">{summary}</Table.Td>
              <Table.Td>{occurrence_count}</Table.Td>
              <Table.Td>
                <Instant at={last_occurrence} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
