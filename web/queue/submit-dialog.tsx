import { Checkbox, NumberInput, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/api.ts';
import type { QueueName } from '../name.ts';
import { Dialog } from '../component/dialog.tsx';
import { PrioritySelect } from './entry-action.tsx';

type SubmitDialogProps = {
  readonly queue: QueueName;
  readonly batches: boolean;
  /** The number that the form begins with. */
  readonly initialNumber?: number;
  readonly onClose: () => void;
};

export function SubmitDialog({ queue, batches, initialNumber, onClose }: SubmitDialogProps) {
  const [number, setNumber] = useState<number | string>(initialNumber ?? '');
  const [priority, setPriority] = useState('100');
  const [noBatch, setNoBatch] = useState(false);
  const isReady = typeof number === 'number' && number >= 1;
  return (
    <Dialog
      title="Submit a pull request"
      action="Submit"
      isReady={isReady}
      run={async () => {
        // The request includes the head commit: if someone pushes in between, the server refuses the request.
        const pr = { number: Number(number) };
        const { prSha: sha } = await call('getPullRequestFromHost', { ...queue, pr });
        const submitOptions = { priority: Number(priority), noBatch };
        return call('submitPullRequest', { ...queue, pr: { ...pr, sha }, ...submitOptions });
      }}
      done={`#${number} is submitted.`}
      onClose={onClose}
    >
      <NumberInput
        label="Number"
        description="The pull request number on the Git host."
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
          An urgent pull request moves to the front of the queue. Runs in progress may restart behind it.
        </Text>
      )}
      {batches && (
        <Checkbox
          label="Test this pull request alone, not in a batch"
          checked={noBatch}
          onChange={(event) => setNoBatch(event.currentTarget.checked)}
        />
      )}
    </Dialog>
  );
}
