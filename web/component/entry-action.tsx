// What may be done with a pull request in a queue, each with what it means before it is done.

import { ActionIcon, Menu, Select, Text } from '@mantine/core';
import { useLayoutEffect, useRef, useState } from 'react';
import { call } from '../api.ts';
import { type QueueName } from '../name.ts';
import { type Placed, priorityCost } from '../priority-cost.ts';
import { useQueue } from '../query.ts';
import { Dialog } from './dialog.tsx';
import { Icon } from './icon.tsx';

const priorityChoices = [
  { value: '0', label: 'urgent' },
  { value: '10', label: 'high' },
  { value: '100', label: 'medium' },
  { value: '200', label: 'low' },
];

const restartable: ReadonlySet<string> = new Set(['testing', 'tests_passed', 'pending_failure']);

type Actionable = Placed & {
  readonly prTitle: string;
  readonly prSha: string;
  readonly noBatch: boolean;
};

type EntryActionsProps = { readonly queue: QueueName; readonly entry: Actionable };

type Open = 'none' | 'cancel' | 'restart' | 'priority';

export function EntryActions({ queue, entry }: EntryActionsProps) {
  const [open, setOpen] = useState<Open>('none');
  const [isUsed, setUsed] = useState(false);
  const [isOpened, setOpened] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  // The menu's own button takes over the focus, so that it comes back to it.
  useLayoutEffect(() => {
    if (!isUsed) return;
    button.current?.focus();
    setOpened(true);
  }, [isUsed]);
  const close = () => {
    setOpen('none');
    // Once the dialog is gone, which keeps the focus to itself.
    setTimeout(() => button.current?.focus(), 0);
  };
  const props = { queue, entry, onClose: close };
  const label = `Actions for #${entry.prNumber}`;
  // A menu is much more than a button, and a long line has one in every row: it is made when it is first wanted.
  if (!isUsed)
    return (
      <ActionIcon
        variant="default"
        size="lg"
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={false}
        onClick={() => setUsed(true)}
      >
        <Icon name="dots" />
      </ActionIcon>
    );
  return (
    <>
      <Menu
        opened={isOpened}
        onChange={setOpened}
        position="bottom-end"
        withinPortal
        withInitialFocusPlaceholder={false}
      >
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={label} ref={button}>
            <Icon name="dots" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {restartable.has(entry.state) && (
            <Menu.Item onClick={() => setOpen('restart')}>Restart tests …</Menu.Item>
          )}
          <Menu.Item onClick={() => setOpen('priority')}>Change priority …</Menu.Item>
          <Menu.Item onClick={() => setOpen('cancel')}>Cancel …</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {open === 'cancel' && <CancelDialog {...props} />}
      {open === 'restart' && <RestartDialog {...props} />}
      {open === 'priority' && <PriorityDialog {...props} />}
    </>
  );
}

type EntryDialogProps = EntryActionsProps & { readonly onClose: () => void };

const refOf = ({ prNumber }: Placed) => ({ pr: { number: prNumber } });

const CancelDialog = ({ queue, entry, onClose }: EntryDialogProps) => (
  <Dialog
    title={`Cancel #${entry.prNumber}?`}
    action={`Cancel #${entry.prNumber}`}
    isDangerous
    run={() => call('cancelPullRequest', { ...queue, ...refOf(entry) })}
    done={`#${entry.prNumber} is cancelled.`}
    onClose={onClose}
  >
    <Text className="break">{entry.prTitle}</Text>
    <Text>
      It leaves the queue. Whatever is tested on top of it begins anew without it. It can be submitted again,
      and then stands at the end.
    </Text>
  </Dialog>
);

const RestartDialog = ({ queue, entry, onClose }: EntryDialogProps) => (
  <Dialog
    title={`Restart the tests of #${entry.prNumber}?`}
    action="Restart tests"
    run={() => call('restartTestsOnPullRequest', { ...queue, ...refOf(entry) })}
    done={`The tests of #${entry.prNumber} begin anew.`}
    onClose={onClose}
  >
    <Text>
      Its test run is cancelled and begun anew in place. It keeps its position, and the others are not tested
      again.
    </Text>
  </Dialog>
);

function PriorityDialog({ queue, entry, onClose }: EntryDialogProps) {
  const line = useQueue(queue, 'live').data?.enqueuedPullRequests;
  const [value, setValue] = useState(String(entry.priorityValue));
  const priority = Number(value);
  return (
    <Dialog
      title={`Priority of #${entry.prNumber}`}
      action="Change priority"
      isDangerous={priority === 0}
      isReady={priority !== entry.priorityValue}
      run={() =>
        call('submitPullRequest', {
          ...queue,
          pr: { number: entry.prNumber, sha: entry.prSha },
          priority,
          noBatch: entry.noBatch,
        })
      }
      done={`#${entry.prNumber} has its new priority.`}
      onClose={onClose}
    >
      <PrioritySelect value={value} onChange={setValue} />
      <div role="status">
        <Text fw={600}>What it costs</Text>
        {line === undefined ? (
          <Text>Reading the line …</Text>
        ) : (
          priorityCost({ line, number: entry.prNumber, value: priority }).map((sentence) => (
            <Text key={sentence}>{sentence}</Text>
          ))
        )}
      </div>
    </Dialog>
  );
}

type PrioritySelectProps = { readonly value: string; readonly onChange: (value: string) => void };

export const PrioritySelect = ({ value, onChange }: PrioritySelectProps) => (
  <Select
    label="Priority"
    data={
      priorityChoices.some((choice) => choice.value === value)
        ? priorityChoices
        : [...priorityChoices, { value, label: value }]
    }
    value={value}
    allowDeselect={false}
    onChange={(chosen) => chosen !== null && onChange(chosen)}
  />
);
