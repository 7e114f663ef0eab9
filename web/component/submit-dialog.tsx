import { Checkbox, NumberInput, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api.ts';
import type { QueueName } from '../name.ts';
import { Dialog } from './dialog.tsx';
import { PrioritySelect } from './entry-action.tsx';

type SubmitDialogProps = {
  readonly queue: QueueName;
  readonly batches: boolean;
  readonly onClose: () => void;
};

export function SubmitDialog({ queue, batches, onClose }: SubmitDialogProps) {
  const [number, setNumber] = useState<number | string>('');
  const [priority, setPriority] = useState('100');
  const [noBatch, setNoBatch] = useState(false);
  const isReady = typeof number === 'number' && number >= 1;
  return (
    <Dialog
      title="Submit a pull request"
      action="Submit"
      isReady={isReady}
      run={async () => {
        // The head is named, so that a push in between is refused instead of submitted.
        const pr = { number: Number(number) };
        const { prSha: sha } = await call('getPullRequestFromHost', { ...queue, pr });
        const wish = { priority: Number(priority), noBatch };
        return call('submitPullRequest', { ...queue, pr: { ...pr, sha }, ...wish });
      }}
      done={`#${number} is submitted.`}
      onClose={onClose}
    >
      <NumberInput
        label="Number"
        description="As the host numbers it."
        value={number}
        onChange={setNumber}
        min={1}
        max={4_294_967_295}
        allowDecimal={false}
        allowNegative={false}
        hideControls
        required
        data-autofocus
      />
      <PrioritySelect value={priority} onChange={setPriority} />
      {priority === '0' && (
        <Text size="sm">
          Urgent goes ahead of everything: what is under test may have to begin anew behind it.
        </Text>
      )}
      {batches && (
        <Checkbox
          label="Test it alone, not in a batch"
          checked={noBatch}
          onChange={(event) => setNoBatch(event.currentTarget.checked)}
        />
      )}
    </Dialog>
  );
}
