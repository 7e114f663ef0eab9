// The actions on a pull request in a queue, each with its consequences before it is confirmed.

import { ActionIcon, Button, Menu, Select, Text } from '@mantine/core';
import { useLayoutEffect, useRef, useState } from 'react';
import { call } from '../api/api.ts';
import { type QueueName } from '../name.ts';
import { type PrioritizedEntry, describePriorityEffect } from './priority-effect.ts';
import { useQueue } from '../api/query.ts';
import { Dialog } from '../component/dialog.tsx';
import { Icon } from '../component/icon.tsx';

const priorityChoices = [
  { value: '0', label: 'urgent' },
  { value: '10', label: 'high' },
  { value: '100', label: 'medium' },
  { value: '200', label: 'low' },
];

const restartable: ReadonlySet<string> = new Set(['testing', 'tests_passed', 'pending_failure']);

type ActionableEntry = PrioritizedEntry & {
  readonly prTitle: string;
  readonly prSha: string;
  readonly noBatch: boolean;
};

type EntryActionsProps = { readonly queue: QueueName; readonly entry: ActionableEntry };

type EntryDialogName = 'none' | 'cancel' | 'restart' | 'priority';

export function EntryActions({ queue, entry }: EntryActionsProps) {
  const [open, setOpen] = useState<EntryDialogName>('none');
  const [isUsed, setUsed] = useState(false);
  const [isOpened, setOpened] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  // The menu's own button takes over the focus, so that the focus returns to it.
  useLayoutEffect(() => {
    if (!isUsed) return;
    button.current?.focus();
    setOpened(true);
  }, [isUsed]);
  const close = () => {
    setOpen('none');
    // After the dialog has closed: it holds the focus until then.
    setTimeout(() => button.current?.focus(), 0);
  };
  const props = { queue, entry, onClose: close };
  const label = `Actions for #${entry.prNumber}`;
  // A menu is heavier than a button, and a long queue has one per row: it is created at the first click.
  if (!isUsed)
    return (
      <ActionIcon
        variant="subtle"
        color="gray"
        size={28}
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
          <ActionIcon variant="subtle" color="gray" size={28} aria-label={label} ref={button}>
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
      <EntryDialog open={open} {...props} />
    </>
  );
}

/** The same actions as buttons, where there is room for them. */
export function EntryButtons({ queue, entry }: EntryActionsProps) {
  const [open, setOpen] = useState<EntryDialogName>('none');
  return (
    <>
      {restartable.has(entry.state) && (
        <Button variant="default" onClick={() => setOpen('restart')}>
          Restart tests …
        </Button>
      )}
      <Button variant="default" onClick={() => setOpen('priority')}>
        Change priority …
      </Button>
      <Button variant="default" onClick={() => setOpen('cancel')}>
        Cancel …
      </Button>
      <EntryDialog open={open} queue={queue} entry={entry} onClose={() => setOpen('none')} />
    </>
  );
}

type EntryDialogProps = EntryActionsProps & { readonly onClose: () => void };

function EntryDialog({ open, ...props }: EntryDialogProps & { readonly open: EntryDialogName }) {
  if (open === 'cancel') return <CancelDialog {...props} />;
  if (open === 'restart') return <RestartDialog {...props} />;
  return open === 'priority' && <PriorityDialog {...props} />;
}

const toPullRequestRef = ({ prNumber }: PrioritizedEntry) => ({ pr: { number: prNumber } });

const CancelDialog = ({ queue, entry, onClose }: EntryDialogProps) => (
  <Dialog
    title={`Cancel #${entry.prNumber}?`}
    action={`Cancel #${entry.prNumber}`}
    isDangerous
    run={() => call('cancelPullRequest', { ...queue, ...toPullRequestRef(entry) })}
    done={`#${entry.prNumber} is cancelled.`}
    onClose={onClose}
  >
    <Text className="break">{entry.prTitle}</Text>
    <Text>
      The pull request is removed from the queue. Runs that include it restart without it. If you submit it
      again, it goes to the end of the queue.
    </Text>
  </Dialog>
);

const RestartDialog = ({ queue, entry, onClose }: EntryDialogProps) => (
  <Dialog
    title={`Restart the tests of #${entry.prNumber}?`}
    action="Restart tests"
    run={() => call('restartTestsOnPullRequest', { ...queue, ...toPullRequestRef(entry) })}
    done={`The tests of #${entry.prNumber} restart.`}
    onClose={onClose}
  >
    <Text>
      Signalbox cancels its test run and starts a new one. The pull request keeps its position, and no other
      pull request is tested again.
    </Text>
  </Dialog>
);

function PriorityDialog({ queue, entry, onClose }: EntryDialogProps) {
  const entries = useQueue(queue, 'live').data?.enqueuedPullRequests;
  const [value, setValue] = useState(String(entry.priorityValue));
  const priority = Number(value);
  return (
    <Dialog
      title={`Change the priority of #${entry.prNumber}`}
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
      done={`The priority of #${entry.prNumber} is changed.`}
      onClose={onClose}
    >
      <PrioritySelect value={value} onChange={setValue} />
      <div role="status">
        <Text fw={600}>Effect on the queue</Text>
        {entries === undefined ? (
          <Text>Loading the queue …</Text>
        ) : (
          describePriorityEffect({ entries, number: entry.prNumber, value: priority }).map((sentence) => (
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
