// One dialog for search and commands. Search results come from the server. Actions that the user may not
// perform are not listed.

import '@mantine/spotlight/styles.css';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { type KeyboardEvent, useEffect, useState } from 'react';
import { filterCommands } from '../command.ts';
import type { QueueName } from '../name.ts';
import { useCommands, type PaletteDialog } from './palette-command.ts';
import { useSearchResults } from './palette-search.ts';
import { Icon } from '../component/icon.tsx';
import { QueueStateDialog } from '../queue/queue-control.tsx';
import { SubmitDialog } from '../queue/submit-dialog.tsx';

/** How long typing must pause before the search is sent. */
const settleMs = 150;

/** Opens again whenever `openCount` changes. */
export function Palette({ openCount }: { readonly openCount: number }) {
  const [text, setText] = useState('');
  const [dialog, setDialog] = useState<PaletteDialog | null>(null);
  useEffect(() => spotlight.open(), [openCount]);
  const query = text.trim();
  const [settled] = useDebouncedValue(query, settleMs);
  const { groups: results, isSearching } = useSearchResults(settled);
  // Results for an earlier text are not listed: Enter must open a result for the current text.
  const groups = [...filterCommands(useCommands(setDialog), query), ...(settled === query ? results : [])];
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
          placeholder="Pull request number, title or author, test, queue, action"
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
              {isSearching || settled !== query ? 'Searching …' : `No result for “${query}”.`}
            </Spotlight.Empty>
          )}
        </Spotlight.ActionsList>
      </Spotlight.Root>
      {dialog !== null && <PaletteDialogView dialog={dialog} onClose={() => setDialog(null)} />}
    </>
  );
}

/** The library does not select results that arrive after the last letter: Enter then opens the first. */
function openFirst({ key, currentTarget }: KeyboardEvent<HTMLElement>): void {
  const dialog = currentTarget.closest('[role="dialog"]');
  if (key !== 'Enter' || dialog === null || dialog.querySelector('[data-selected]') !== null) return;
  dialog.querySelector<HTMLElement>('[data-action]')?.click();
}

type PaletteDialogViewProps = { readonly dialog: PaletteDialog; readonly onClose: () => void };

function PaletteDialogView({ dialog, onClose }: PaletteDialogViewProps) {
  const queue: QueueName = dialog.queue;
  if (dialog.kind === 'submit') return <SubmitDialog queue={queue} batches={false} onClose={onClose} />;
  return <QueueStateDialog queue={queue} target={dialog.target} onClose={onClose} />;
}
