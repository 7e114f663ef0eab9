// What surrounds every page: who is signed in, the way around, and the sign-in where nobody is.

import {
  ActionIcon,
  AppShell,
  Burger,
  Button,
  Group,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Session } from '#contract/session.ts';
import { closeSession } from '../api.ts';
import { SignInPage } from '../page/sign-in.tsx';
import { queryClient, SessionContext, sessionQuery } from '../query.ts';
import { Loading, Problem } from './answer.tsx';
import { Icon, type IconName } from './icon.tsx';
import { Notices } from './notice.tsx';

export function Shell() {
  const session = useQuery(sessionQuery);
  if (session.data === null) return <SignInPage />;
  if (session.data !== undefined)
    return (
      <SessionContext value={session.data}>
        <Notices>
          <Frame session={session.data} />
        </Notices>
      </SessionContext>
    );
  return (
    <main className="alone">
      {session.error === null ? (
        <Loading what="Opening" />
      ) : (
        <Problem error={session.error} onRetry={() => void session.refetch()} />
      )}
    </main>
  );
}

async function signOut(): Promise<void> {
  await closeSession().catch(() => undefined);
  // Nothing of one person's stays for the next.
  queryClient.setQueryData(sessionQuery.queryKey, null);
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
}

export function SchemeToggle() {
  const { setColorScheme } = useMantineColorScheme();
  const shown = useComputedColorScheme('light');
  const other = shown === 'dark' ? 'light' : 'dark';
  return (
    <ActionIcon
      variant="default"
      size="lg"
      aria-label={`Show in ${other} colours`}
      onClick={() => setColorScheme(other)}
    >
      <Icon name={shown === 'dark' ? 'sun' : 'moon'} />
    </ActionIcon>
  );
}

type NavItemProps = {
  readonly to: '/' | '/tests' | '/uploads';
  readonly icon: IconName;
  readonly label: string;
};

const NavItem = ({ to, icon, label }: NavItemProps) => (
  <Link
    to={to}
    // Pages of tests stay with the repository that was looked at.
    search={({ repo }: { readonly repo?: string }) => (repo === undefined || to === '/' ? {} : { repo })}
    className="nav-item"
    activeOptions={{ exact: to === '/', includeSearch: false }}
  >
    <Icon name={icon} />
    {label}
  </Link>
);

function Frame({ session }: { readonly session: Session }) {
  const [isOpen, menu] = useDisclosure(false);
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const { close } = menu;
  useEffect(() => close(), [pathname, close]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <a className="skip" href="#content" onClick={() => main.current?.focus()}>
          Skip to the content
        </a>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={menu.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Menu"
              aria-expanded={isOpen}
            />
            <Link to="/" className="brand">
              Signalbox
            </Link>
            <Text c="dimmed" visibleFrom="xs" truncate>
              {session.organization.name}
            </Text>
          </Group>
          <Group gap="sm" wrap="nowrap">
            <Text size="sm" visibleFrom="sm">
              {session.name} ({session.role})
            </Text>
            <SchemeToggle />
            <Button variant="default" onClick={() => void signOut()}>
              Sign out
            </Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <NavItem to="/" icon="line" label="Queues" />
        <NavItem to="/tests" icon="flask" label="Tests" />
        <NavItem to="/uploads" icon="drain" label="Uploads" />
      </AppShell.Navbar>
      <AppShell.Main id="content" ref={main} tabIndex={-1}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
