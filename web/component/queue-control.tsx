// Pausing, draining and resuming, for administrators.

import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api.ts';
import type { QueueName } from '../name.ts';
import { Dialog } from './dialog.tsx';
import { Icon, type IconName } from './icon.tsx';

export type QueueTarget = 'RUNNING' | 'PAUSED' | 'DRAINING';

type Words = {
  readonly verb: string;
  readonly icon: IconName;
  readonly meaning: string;
  readonly done: string;
};

const words: Readonly<Record<QueueTarget, Words>> = {
  RUNNING: {
    verb: 'Resume',
    icon: 'play',
    meaning: 'Pull requests are admitted, tested and merged again, in the order they stand in.',
    done: 'The queue is running.',
  },
  PAUSED: {
    verb: 'Pause',
    icon: 'pause',
    meaning:
      'Tests under way finish. Nothing new is tested or merged until it is resumed; the order is kept.',
    done: 'The queue is paused.',
  },
  DRAINING: {
    verb: 'Drain',
    icon: 'drain',
    meaning: 'What is in line is tested and merged. What is submitted from now on waits until it is resumed.',
    done: 'The queue is draining.',
  },
};

export const queueTargets = (Object.keys(words) as QueueTarget[]).map((target) => ({
  target,
  verb: words[target].verb,
  icon: words[target].icon,
}));

type QueueStateDialogProps = {
  readonly queue: QueueName;
  readonly target: QueueTarget;
  readonly onClose: () => void;
};

export const QueueStateDialog = ({ queue, target, onClose }: QueueStateDialogProps) => (
  <Dialog
    title={`${words[target].verb} the queue for ${queue.targetBranch}?`}
    action={`${words[target].verb} the queue`}
    run={() => call('updateQueue', { ...queue, state: target })}
    done={words[target].done}
    onClose={onClose}
  >
    <Text>{words[target].meaning}</Text>
  </Dialog>
);

type QueueControlsProps = { readonly queue: QueueName; readonly state: QueueTarget | 'SWITCHING_MODES' };

export function QueueControls({ queue, state }: QueueControlsProps) {
  const [target, setTarget] = useState<QueueTarget | null>(null);
  // While modes are switched, the server takes no other state.
  if (state === 'SWITCHING_MODES') return null;
  const offered = queueTargets.filter((each) => each.target !== state);
  return (
    <>
      {offered.map((each) => (
        <Button
          key={each.target}
          variant="default"
          leftSection={<Icon name={each.icon} />}
          onClick={() => setTarget(each.target)}
        >
          {each.verb}
        </Button>
      ))}
      {target !== null && <QueueStateDialog queue={queue} target={target} onClose={() => setTarget(null)} />}
    </>
  );
}
