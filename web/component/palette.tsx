// Search and commands in one place: type, choose with the arrows, and it opens. What is found comes from the server; what
// may not be done is not offered.

import '@mantine/spotlight/styles.css';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { narrowed } from '../command.ts';
import type { QueueName } from '../name.ts';
import { useCommands, type WantedDialog } from './palette-command.ts';
import { useFound } from './palette-found.ts';
import { Icon } from './icon.tsx';
import { QueueStateDialog } from './queue-control.tsx';
import { SubmitDialog } from './submit-dialog.tsx';

/** Typing pauses this long before the server is asked. */
const settleMs = 150;

/** Opened anew with every `asked`. */
export function Palette({ asked }: { readonly asked: number }) {
  const [text, setText] = useState('');
  const [dialog, setDialog] = useState<WantedDialog | null>(null);
  useEffect(() => spotlight.open(), [asked]);
  const query = text.trim();
  const [settled] = useDebouncedValue(query, settleMs);
  const { groups: found, isSearching } = useFound(settled);
  // What was found for other words is not offered: Enter must open what is meant.
  const groups = [...narrowed(useCommands(setDialog), query), ...(settled === query ? found : [])];
  return (
    <>
      <Spotlight.Root
        query={text}
        onQueryChange={setText}
        shortcut={null}
        scrollable
        maxHeight="60vh"
        attributes={{ content: { 'aria-label': 'Search and commands' } }}
      >
        <Spotlight.Search
          aria-label="Search"
          placeholder="A number, a title, an author, a test, a queue, an action"
          leftSection={<Icon name="search" />}
          maxLength={200}
          onKeyDown={openFirst}
        />
        <Spotlight.ActionsList>
          {groups.map(({ title, commands }) => (
            <Spotlight.ActionsGroup key={title} label={title}>
              {commands.map(({ id, label, description, icon, run }) => (
                <Spotlight.Action
                  key={id}
                  label={label}
                  {...(description !== undefined && { description })}
                  leftSection={<Icon name={icon} />}
                  onClick={run}
                />
              ))}
            </Spotlight.ActionsGroup>
          ))}
          {groups.length === 0 && (
            <Spotlight.Empty role="status">
              {isSearching || settled !== query ? 'Searching …' : `Nothing fits “${query}”.`}
            </Spotlight.Empty>
          )}
        </Spotlight.ActionsList>
      </Spotlight.Root>
      {dialog !== null && <WantedDialogs wanted={dialog} onClose={() => setDialog(null)} />}
    </>
  );
}

/** What is found after the last letter was typed is not marked by the library: Enter then opens the first. */
function openFirst({ key, currentTarget }: KeyboardEvent<HTMLElement>): void {
  const dialog = currentTarget.closest('[role="dialog"]');
  if (key !== 'Enter' || dialog === null || dialog.querySelector('[data-selected]') !== null) return;
  dialog.querySelector<HTMLElement>('[data-action]')?.click();
}

type WantedDialogsProps = { readonly wanted: WantedDialog; readonly onClose: () => void };

function WantedDialogs({ wanted, onClose }: WantedDialogsProps) {
  const queue: QueueName = wanted.queue;
  if (wanted.kind === 'submit') return <SubmitDialog queue={queue} batches={false} onClose={onClose} />;
  return <QueueStateDialog queue={queue} target={wanted.target} onClose={onClose} />;
}
