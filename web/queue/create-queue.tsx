import { Autocomplete, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { formatRepoPath, queueSearch, parseRepoPath, type QueueName } from '../name.ts';
import { useQueues } from '../api/query.ts';
import { Dialog } from '../component/dialog.tsx';

type CreateQueueDialogProps = {
  /** What the fields hold at first. */
  readonly proposed?: QueueName;
  readonly onClose: () => void;
};

/** Creates a queue with the default settings, then opens its settings page. */
export function CreateQueueDialog({ proposed, onClose }: CreateQueueDialogProps) {
  const [path, setPath] = useState(proposed === undefined ? '' : formatRepoPath(proposed.repo));
  const [branch, setBranch] = useState(proposed?.targetBranch ?? 'main');
  const navigate = useNavigate();
  const known = [...new Set((useQueues().data ?? []).map(({ repo }) => formatRepoPath(repo)))].toSorted();
  const targetBranch = branch.trim();
  const isReady = path.trim().split('/').filter(Boolean).length >= 3 && targetBranch !== '';
  const create = async () => {
    const queue = { repo: parseRepoPath(path.trim()), targetBranch };
    await call('createQueue', queue);
    await navigate({ to: '/settings', search: queueSearch(queue) });
  };
  return (
    <Dialog
      title="Create a queue"
      action="Create the queue"
      isReady={isReady}
      run={create}
      done={`The queue for ${targetBranch} is created with the default settings.`}
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
      <Text size="sm">The queue starts at once with the default settings, which the next page shows.</Text>
    </Dialog>
  );
}
