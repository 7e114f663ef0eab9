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
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import type { Session } from '#contract/session.ts';
import { useKeys } from '../key.ts';
import { type NavPage, navPagesFor } from '../nav.ts';
import { SignInPage } from '../page/sign-in.tsx';
import { SessionContext, sessionQuery } from '../query.ts';
import { signOut } from '../sign-out.ts';
import { Loading, Problem } from './answer.tsx';
import { Icon } from './icon.tsx';
import { KeyHelp, SearchButton } from './key-help.tsx';
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

const NavItem = ({ to, icon, label, isOfRepo = false }: NavPage) => (
  <Link
    to={to}
    search={({ repo }: { readonly repo?: string }) => (isOfRepo && repo !== undefined ? { repo } : {})}
    className="nav-item"
    activeOptions={{ exact: to === '/', includeSearch: false }}
  >
    <Icon name={icon} />
    {label}
  </Link>
);

// Loaded when it is first asked for.
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

const SandboxNotice = () => (
  <Text size="sm" c="dimmed" mb="sm">
    The sandbox host serves here: its pull requests, CI and landings are not real. Connect a Git host, or set
    SIGNALBOX_SANDBOX=off.
  </Text>
);

function Frame({ session }: { readonly session: Session }) {
  const [isOpen, menu] = useDisclosure(false);
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const { close } = menu;
  useEffect(() => close(), [pathname, close]);
  const [asked, setAsked] = useState(0);
  const [isHelping, help] = useDisclosure(false);
  const search = useCallback(() => setAsked((times) => times + 1), []);
  useKeys({ onSearch: search, onHelp: help.open });
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
            <SearchButton onClick={search} />
            <SchemeToggle />
            <Button variant="default" onClick={() => void signOut()}>
              Sign out
            </Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        {navPagesFor(session.scopes).map((page) => (
          <NavItem key={page.to} {...page} />
        ))}
      </AppShell.Navbar>
      <AppShell.Main id="content" ref={main} tabIndex={-1}>
        {session.is_sandbox && <SandboxNotice />}
        <Outlet />
      </AppShell.Main>
      {asked > 0 && (
        <Suspense>
          <Palette asked={asked} />
        </Suspense>
      )}
      {isHelping && <KeyHelp onClose={help.close} />}
    </AppShell>
  );
}
