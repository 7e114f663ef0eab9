// Whether the fix of a test is being verified, what has come of it, and the runs for that.

import { Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { fixText } from '#contract/text/fix-text.ts';
import type { FixVerification } from '#contract/test-health.ts';
import { call } from '../api/api.ts';
import { useMay } from '../api/query.ts';
import { Dialog } from '../component/dialog.tsx';
import { Section } from '../component/section.tsx';
import { Instant } from '../component/time.tsx';
import { formatInstant } from '../format.ts';
import type { TestName } from './test-action.tsx';

type FixSectionProps = {
  readonly fix: FixVerification | null;
  readonly name: TestName;
  /** The status depends on runs: there is something to verify. */
  readonly isUnhealthy: boolean;
};

export function FixSection({ fix, name, isUnhealthy }: FixSectionProps) {
  const mayAdminister = useMay('admin');
  const isOpen = fix?.state === 'verifying';
  const mayBegin = mayAdminister && isUnhealthy && !isOpen;
  if (fix === null && !mayBegin) return null;
  return (
    <Section id="fix" title="Verification of its fix">
      <Stack gap="sm" className="card">
        <Text className="why">
          {fix === null
            ? 'If you have fixed the test, CI can repeat it in free slots of the queue until that is shown.'
            : fixText(fix, formatInstant)}
        </Text>
        {fix !== null && fix.runs.length > 0 && <FixRuns runs={fix.runs} />}
        {mayBegin && <BeginButton name={name} />}
        {isOpen && mayAdminister && <CancelButton name={name} />}
      </Stack>
    </Section>
  );
}

function BeginButton({ name }: Pick<FixSectionProps, 'name'>) {
  const [isAsking, setIsAsking] = useState(false);
  const [sha, setSha] = useState('');
  return (
    <Group>
      <Button variant="default" onClick={() => setIsAsking(true)}>
        Verify a fix …
      </Button>
      {isAsking && (
        <Dialog
          title="Verify the fix of the test"
          action="Verify"
          done="The fix is being verified."
          run={() => call('verifyFix', { ...name, fix_sha: sha.trim() === '' ? null : sha.trim() })}
          onClose={() => setIsAsking(false)}
        >
          <Text>
            CI repeats this test alone on the default branch, in slots of the queue that no pull request
            needs, until enough clean runs show that it is fixed, or until it fails as before.
          </Text>
          <TextInput
            label="Commit of the fix"
            description="The full name of the commit on the default branch; the runs wait for it. Empty: it is there already."
            maxLength={64}
            value={sha}
            onChange={(event) => setSha(event.currentTarget.value)}
          />
        </Dialog>
      )}
    </Group>
  );
}

function CancelButton({ name }: Pick<FixSectionProps, 'name'>) {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <Group>
      <Button variant="default" onClick={() => setIsAsking(true)}>
        Cancel the verification …
      </Button>
      {isAsking && (
        <Dialog
          title="Cancel the verification"
          action="Cancel the verification"
          done="The verification is cancelled."
          run={() => call('cancelFixVerification', { ...name })}
          onClose={() => setIsAsking(false)}
        >
          <Text>Runs in progress are stopped. Clean runs that were reported still count.</Text>
        </Dialog>
      )}
    </Group>
  );
}

const outcomes: Readonly<Record<NonNullable<FixVerification['runs'][number]['outcome']>, string>> = {
  reported: 'Reported',
  no_report: 'No report of the test',
  gave_way: 'Gave way to pull requests',
  stopped: 'Stopped',
  refused: 'Refused by the Git host',
};

const FixRuns = ({ runs }: Pick<FixVerification, 'runs'>) => (
  <Table.ScrollContainer minWidth={420}>
    <Table>
      <Table.Thead>
        <Table.Tr>
          {['Started', 'Commit', 'Clean runs', 'Result'].map((head) => (
            <Table.Th key={head}>{head}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {runs.map((run) => (
          <Table.Tr key={run.test_branch}>
            <Table.Td>
              <Instant at={run.started_at} />
            </Table.Td>
            <Table.Td>{run.base_sha.slice(0, 7)}</Table.Td>
            <Table.Td>{`${run.clean_runs} of ${run.repeats}`}</Table.Td>
            <Table.Td>
              {run.failures > 0 ? 'Failed' : run.outcome === null ? 'In progress' : outcomes[run.outcome]}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
