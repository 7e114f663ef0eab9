// Where the palette leads and what it does, for who is signed in and where they are.

import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useLocation, useNavigate } from '@tanstack/react-router';
import type { Command, CommandGroup } from '../command.ts';
import { type QueueName, queueOfSearch, queueSearch } from '../name.ts';
import { navPagesFor } from '../nav.ts';
import { useSession } from '../query.ts';
import { signOut } from '../sign-out.ts';
import { queueTargets, type QueueTarget } from './queue-control.tsx';

export type WantedDialog =
  | { readonly kind: 'submit'; readonly queue: QueueName }
  | { readonly kind: 'state'; readonly queue: QueueName; readonly target: QueueTarget };

/** The queue that the address is about. */
function useQueueHere(): QueueName | null {
  const { search } = useLocation();
  const { repo, branch } = search as { readonly repo?: string; readonly branch?: string };
  return repo && branch ? queueOfSearch({ repo, branch }) : null;
}

export function useCommands(want: (dialog: WantedDialog) => void): readonly CommandGroup[] {
  const navigate = useNavigate();
  const { scopes } = useSession();
  const queue = useQueueHere();
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
            title: `This queue, ${queue.repo.name} ${queue.targetBranch}`,
            commands: [
              {
                id: 'settings',
                label: 'Settings of this queue',
                icon: 'switch',
                run: () => void navigate({ to: '/settings', search: queueSearch(queue) }),
              } satisfies Command,
              ...doings(queue, scopes, want),
            ],
          },
        ]),
    { title: 'Pages', commands: pages },
    {
      title: 'You',
      commands: [
        {
          id: 'scheme',
          label: `Show in ${other} colours`,
          icon: other === 'dark' ? 'moon' : 'sun',
          run: () => setColorScheme(other),
        },
        { id: 'sign-out', label: 'Sign out', icon: 'cross', run: () => void signOut() },
      ],
    },
  ];
}

/** What the scopes allow to be done with a queue. */
function doings(
  queue: QueueName,
  scopes: readonly string[],
  want: (dialog: WantedDialog) => void,
): readonly Command[] {
  const submit: Command = {
    id: 'submit',
    label: 'Submit a pull request to this queue …',
    icon: 'play',
    run: () => want({ kind: 'submit', queue }),
  };
  const states = queueTargets.map(({ target, verb, icon }): Command => ({
    id: `state ${target}`,
    label: `${verb} this queue …`,
    icon,
    run: () => want({ kind: 'state', queue, target }),
  }));
  return [...(scopes.includes('submit') ? [submit] : []), ...(scopes.includes('admin') ? states : [])];
}
