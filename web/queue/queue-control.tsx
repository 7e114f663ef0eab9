// Pausing, draining and resuming, for administrators.

import { Button, Text } from '@mantine/core';
import { useState } from 'react';
import { call } from '../api/api.ts';
import type { QueueName } from '../name.ts';
import { Dialog } from '../component/dialog.tsx';
import { Icon, type IconName } from '../component/icon.tsx';

export type QueueTarget = 'RUNNING' | 'PAUSED' | 'DRAINING';

type QueueControlText = {
  readonly verb: string;
  readonly icon: IconName;
  readonly meaning: string;
  readonly done: string;
};

const controlTexts: Readonly<Record<QueueTarget, QueueControlText>> = {
  RUNNING: {
    verb: 'Resume',
    icon: 'play',
    meaning: 'Signalbox tests and merges pull requests again, in queue order.',
    done: 'The queue is running.',
  },
  PAUSED: {
    verb: 'Pause',
    icon: 'pause',
    meaning:
      'Runs in progress finish. No new run starts and nothing is merged until you resume the queue. Pull requests keep their positions.',
    done: 'The queue is paused.',
  },
  DRAINING: {
    verb: 'Drain',
    icon: 'drain',
    meaning:
      'Queued pull requests are tested and merged. Pull requests that are submitted from now on wait until you resume the queue.',
    done: 'The queue is draining.',
  },
};

export const queueTargets = (Object.keys(controlTexts) as QueueTarget[]).map((target) => ({
  target,
  verb: controlTexts[target].verb,
  icon: controlTexts[target].icon,
}));

type QueueStateDialogProps = {
  readonly queue: QueueName;
  readonly target: QueueTarget;
  readonly onClose: () => void;
};

export const QueueStateDialog = ({ queue, target, onClose }: QueueStateDialogProps) => (
  <Dialog
    title={`${controlTexts[target].verb} the queue for ${queue.targetBranch}?`}
    action={`${controlTexts[target].verb} the queue`}
    run={() => call('updateQueue', { ...queue, state: target })}
    done={controlTexts[target].done}
    onClose={onClose}
  >
    <Text>{controlTexts[target].meaning}</Text>
  </Dialog>
);

type QueueControlsProps = { readonly queue: QueueName; readonly state: QueueTarget | 'SWITCHING_MODES' };

export function QueueControls({ queue, state }: QueueControlsProps) {
  const [target, setTarget] = useState<QueueTarget | null>(null);
  // While the mode is switched, the server accepts no other state.
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
