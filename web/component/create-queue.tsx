import { Autocomplete, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api.ts';
import { pathOf, queueSearch, repoOf } from '../name.ts';
import { useQueues } from '../query.ts';
import { Dialog } from './dialog.tsx';

/** A queue with the default settings; whoever made it is shown them next. */
export function CreateQueueDialog({ onClose }: { readonly onClose: () => void }) {
  const [path, setPath] = useState('');
  const [branch, setBranch] = useState('main');
  const navigate = useNavigate();
  const known = [...new Set((useQueues().data ?? []).map(({ repo }) => pathOf(repo)))].toSorted();
  const targetBranch = branch.trim();
  const isReady = path.trim().split('/').filter(Boolean).length >= 3 && targetBranch !== '';
  const create = async () => {
    const queue = { repo: repoOf(path.trim()), targetBranch };
    await call('createQueue', queue);
    await navigate({ to: '/settings', search: queueSearch(queue) });
  };
  return (
    <Dialog
      title="Create a queue"
      action="Create the queue"
      isReady={isReady}
      run={create}
      done={`The queue for ${targetBranch} is created, with the default settings.`}
      onClose={onClose}
    >
      <Autocomplete
        label="Repository"
        description="Host, owner and name. Its host must be connected to this organization."
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
        description="Pull requests into this branch are tested and merged by the queue."
        value={branch}
        onChange={(event) => setBranch(event.currentTarget.value)}
        maxLength={255}
        required
      />
      <Text size="sm">It begins running at once, with the default settings. They are shown next.</Text>
    </Dialog>
  );
}
