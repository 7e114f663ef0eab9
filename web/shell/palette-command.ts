// The pages and actions of the palette, for the signed-in user and the current page.

import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useLocation, useNavigate } from '@tanstack/react-router';
import type { Command, CommandGroup } from '../command.ts';
import { type QueueName, queueOfSearch, queueSearch } from '../name.ts';
import { navPagesFor } from '../nav.ts';
import { useSession } from '../api/query.ts';
import { signOut } from '../account/sign-out.ts';
import { queueTargets, type QueueTarget } from '../queue/queue-control.tsx';

export type PaletteDialog =
  | { readonly kind: 'submit'; readonly queue: QueueName }
  | { readonly kind: 'state'; readonly queue: QueueName; readonly target: QueueTarget };

/** The queue that the URL names. */
function useCurrentQueue(): QueueName | null {
  const { search } = useLocation();
  const { repo, branch } = search as { readonly repo?: string; readonly branch?: string };
  return repo && branch ? queueOfSearch({ repo, branch }) : null;
}

export function useCommands(openDialog: (dialog: PaletteDialog) => void): readonly CommandGroup[] {
  const navigate = useNavigate();
  const { scopes } = useSession();
  const queue = useCurrentQueue();
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark';
  const pages = navPagesFor(scopes).map(({ to, icon, label }): Command => ({
    id: `page ${to}`,
    label,
    icon,
    run: () => void navigate({ to }),
  }));
  return [
    ...(queue === null
      ? []
      : [
          {
            title: `This queue: ${queue.repo.name} ${queue.targetBranch}`,
            commands: [
              {
                id: 'settings',
                label: 'Settings of this queue',
                icon: 'switch',
                run: () => void navigate({ to: '/settings', search: queueSearch(queue) }),
              } satisfies Command,
              ...queueActions(queue, scopes, openDialog),
            ],
          },
        ]),
    { title: 'Pages', commands: pages },
    {
      title: 'You',
      commands: [
        {
          id: 'scheme',
          label: `Use ${other} theme`,
          icon: other === 'dark' ? 'moon' : 'sun',
          run: () => setColorScheme(other),
        },
        { id: 'sign-out', label: 'Sign out', icon: 'cross', run: () => void signOut() },
      ],
    },
  ];
}

/** The actions on a queue that the scopes allow. */
function queueActions(
  queue: QueueName,
  scopes: readonly string[],
  openDialog: (dialog: PaletteDialog) => void,
): readonly Command[] {
  const submit: Command = {
    id: 'submit',
    label: 'Submit a pull request to this queue …',
    icon: 'play',
    run: () => openDialog({ kind: 'submit', queue }),
  };
  const states = queueTargets.map(({ target, verb, icon }): Command => ({
    id: `state ${target}`,
    label: `${verb} this queue …`,
    icon,
    run: () => openDialog({ kind: 'state', queue, target }),
  }));
  return [...(scopes.includes('submit') ? [submit] : []), ...(scopes.includes('admin') ? states : [])];
}
