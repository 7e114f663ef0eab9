// Where a test broke: what landed between the last pass and the first failure, and how to revert the likeliest of it.

import { Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import type { Breakage } from '#contract/test-health.ts';
import { breakageText, culpritText } from '#contract/text/prospect-text.ts';
import { Icon } from '../component/icon.tsx';
import { Pill } from '../component/pill.tsx';
import { Section } from '../component/section.tsx';
import { safeHref } from '../name.ts';

type BreakageCandidate = Breakage['candidates'][number];

export function BreakageSection({ breakage }: { readonly breakage: Breakage | null }) {
  if (breakage === null) return null;
  const { candidates, candidate_count, culprit } = breakage;
  const left = candidate_count - candidates.length;
  return (
    <Section id="breakage" title="Which commit broke it">
      <Stack gap="sm" className="card">
        <Text className="why">{`${breakageText(breakage)} ${culpritText(breakage)}`.trim()}</Text>
        {candidates.length > 0 && (
          <ul className="plain">
            {candidates.map((candidate) => (
              <CandidateRow
                key={candidate.sha}
                candidate={candidate}
                isLikeliest={culprit !== null && candidate.pull_request === culprit.pull_request}
              />
            ))}
          </ul>
        )}
        {left > 0 && <Text size="sm" c="dimmed">{`… and ${left} more`}</Text>}
        {culprit !== null && <Revert culprit={culprit} />}
      </Stack>
    </Section>
  );
}

type CandidateRowProps = { readonly candidate: BreakageCandidate; readonly isLikeliest: boolean };

function CandidateRow({ candidate, isLikeliest }: CandidateRowProps) {
  const { sha, pull_request, title, failed_before, changed_file, html_url } = candidate;
  const href = safeHref(html_url ?? undefined);
  const name = pull_request === null ? sha.slice(0, 7) : `#${pull_request}`;
  return (
    <li className="row">
      <div className="shrink">
        <Text fw={600} className="break">
          {href === undefined ? (
            name
          ) : (
            <a href={href} target="_blank" rel="noreferrer">
              {name}
            </a>
          )}
          {title !== '' && ` ${title}`}
        </Text>
        <Text size="sm" c="dimmed">
          {pull_request === null ? 'A commit that no queue landed' : `Landed as ${sha.slice(0, 7)}`}
        </Text>
      </div>
      <div className="entry-state">
        {isLikeliest && <Pill icon="warning" label="Likeliest" tone="bad" />}
        {failed_before && <Pill icon="cross" label="Failed with it before" tone="warn" />}
        {changed_file && <Pill icon="switch" label="Changed the test’s file" tone="warn" />}
      </div>
    </li>
  );
}

function Revert({ culprit }: { readonly culprit: NonNullable<Breakage['culprit']> }) {
  const { revert_command: command, pull_request, is_commented } = culprit;
  return (
    <div>
      {command !== null && (
        <>
          <Text size="sm">{`To revert #${pull_request}, run this on a new branch and open a pull request with it:`}</Text>
          <Group gap="sm" mt="xs">
            <code className="break">{command}</code>
            <CopyButton value={command}>
              {({ copied, copy }) => (
                <Button
                  size="compact-sm"
                  variant="default"
                  leftSection={copied ? <Icon name="check" /> : null}
                  onClick={copy}
                >
                  {copied ? 'Copied' : 'Copy'}
                </Button>
              )}
            </CopyButton>
          </Group>
        </>
      )}
      {is_commented && (
        <Text size="sm" c="dimmed" mt="xs">
          {`A comment on #${pull_request} names the tests that broke with it.`}
        </Text>
      )}
    </div>
  );
}
