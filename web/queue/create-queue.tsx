import { Autocomplete, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import { formatRepoPath, queueKey, queueSearch, parseRepoPath, type QueueName } from '../name.ts';
import { useQueues } from '../api/query.ts';
import { Dialog } from '../component/dialog.tsx';
import { ErrorAlert, Loading } from '../component/query-result.tsx';
import { FindingList } from '../setting/diagnosis.tsx';

type CreateQueueDialogProps = {
  /** What the fields hold at first. */
  readonly proposed?: QueueName;
  readonly onClose: () => void;
};

/** Typing has ended: the Git host is asked. */
const settleMs = 600;

/** Null: the repository is not named completely. */
function readQueueName(path: string, branch: string): QueueName | null {
  const isComplete = path.trim().split('/').filter(Boolean).length >= 3 && branch.trim() !== '';
  return isComplete ? { repo: parseRepoPath(path.trim()), targetBranch: branch.trim() } : null;
}

/**
 * Creates a queue, then opens its page. The Git host is asked what would keep the queue from working, and which checks
 * report there: where the rules of the branch require none, these are proposed.
 */
export function CreateQueueDialog({ proposed, onClose }: CreateQueueDialogProps) {
  const [path, setPath] = useState(proposed === undefined ? '' : formatRepoPath(proposed.repo));
  const [branch, setBranch] = useState(proposed?.targetBranch ?? 'main');
  /** Null: what is proposed. */
  const [chosen, setChosen] = useState<string[] | null>(null);
  const navigate = useNavigate();
  const known = [...new Set((useQueues().data ?? []).map(({ repo }) => formatRepoPath(repo)))].toSorted();
  const queue = readQueueName(path, branch);
  const [settled] = useDebouncedValue(queue === null ? '' : queueKey(queue), settleMs);
  const check = useQuery({
    queryKey: ['check-repository', settled],
    queryFn: () => call('checkRepository', queue!),
    enabled: queue !== null && queueKey(queue) === settled,
    retry: false,
    staleTime: 60_000,
  });
  const requiredStatuses = chosen ?? proposeChecks(check.data);
  const create = async () => {
    if (queue === null) return;
    await call('createQueue', { ...queue, ...(requiredStatuses.length > 0 && { requiredStatuses }) });
    await navigate({ to: '/queue', search: queueSearch(queue) });
  };
  return (
    <Dialog
      title="Create a queue"
      action="Create the queue"
      isReady={queue !== null && !check.isFetching}
      run={create}
      done={`The queue for ${branch.trim()} is created.`}
      onClose={onClose}
    >
      <Autocomplete
        label="Repository"
        description="Host, owner and name. The Git host must be connected to this organization."
        placeholder="git.example/owner/name"
        data={known}
        value={path}
        onChange={setPath}
        maxLength={767}
        required
        data-autofocus
      />
      <TextInput
        label="Branch"
        description="The queue tests and merges pull requests into this branch."
        value={branch}
        onChange={(event) => setBranch(event.currentTarget.value)}
        maxLength={255}
        required
      />
      {check.isFetching && <Loading what="Asking the Git host" />}
      {check.error !== null && <ErrorAlert error={check.error} />}
      {check.data !== undefined && (
        <CheckedRepository
          check={check.data}
          branch={branch.trim()}
          requiredStatuses={requiredStatuses}
          onChange={setChosen}
        />
      )}
    </Dialog>
  );
}

type RepositoryCheck = ResponseOf<'checkRepository'>;

const proposeChecks = (check: RepositoryCheck | undefined): string[] =>
  check === undefined || check.requiredChecks.length > 0 ? [] : check.reportedChecks;

type CheckedRepositoryProps = {
  readonly check: RepositoryCheck;
  readonly branch: string;
  readonly requiredStatuses: string[];
  readonly onChange: (names: string[]) => void;
};

function CheckedRepository({ check, branch, requiredStatuses, onChange }: CheckedRepositoryProps) {
  const { requiredChecks, reportedChecks } = check;
  const faults = check.findings.filter(({ verdict }) => verdict === 'wrong');
  return (
    <Stack gap="xs">
      {requiredChecks.length > 0 ? (
        <Text size="sm">
          A pull request merges when these checks pass, which the rules of {branch} require:{' '}
          {requiredChecks.join(', ')}.
        </Text>
      ) : (
        <TagsInput
          label="Required checks"
          description={
            reportedChecks.length > 0
              ? 'A pull request merges when these pass. They reported recently; the rules of the branch require none.'
              : 'A pull request merges when these pass. No check has reported recently: type the names under which CI reports.'
          }
          data={reportedChecks}
          value={requiredStatuses}
          onChange={onChange}
          clearable
        />
      )}
      {faults.length > 0 && (
        <>
          <Text size="sm" fw={600}>
            Change this at the Git host, so that the queue works as it should:
          </Text>
          <FindingList findings={faults} />
        </>
      )}
    </Stack>
  );
}
