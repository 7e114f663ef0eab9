// The frame of every page: the signed-in user, the navigation, and the sign-in page if there is no session.

import { AppShell, Burger, Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import type { Session } from '#contract/session.ts';
import { useKeys } from '../key.ts';
import { type NavPage, navPagesFor } from '../nav.ts';
import { SignInPage } from '../page/sign-in.tsx';
import { SessionContext, sessionQuery } from '../api/query.ts';
import { signOut } from '../account/sign-out.ts';
import { Loading, ErrorAlert } from '../component/query-result.tsx';
import { Icon } from '../component/icon.tsx';
import { KeyHelp, SearchButton } from './key-help.tsx';
import { SchemeToggle } from './scheme-toggle.tsx';
import { Notices } from '../component/notice.tsx';

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
    <main className="centered-page">
      {session.error === null ? (
        <Loading what="Loading" />
      ) : (
        <ErrorAlert error={session.error} onRetry={() => void session.refetch()} />
      )}
    </main>
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

// Loaded when it is first opened.
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

const SandboxNotice = () => (
  <Text size="sm" c="dimmed" mb="sm">
    This server uses the built-in sandbox: its pull requests, CI runs and merges are not real. Connect a Git
    host, or set SIGNALBOX_SANDBOX=off.
  </Text>
);

function Frame({ session }: { readonly session: Session }) {
  const [isOpen, menu] = useDisclosure(false);
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const { close } = menu;
  useEffect(() => close(), [pathname, close]);
  const [paletteOpenCount, setPaletteOpenCount] = useState(0);
  const [isHelpOpen, help] = useDisclosure(false);
  const search = useCallback(() => setPaletteOpenCount((count) => count + 1), []);
  useKeys({ onSearch: search, onHelp: help.open });
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <AppShell.Header>
        <a className="skip" href="#content" onClick={() => main.current?.focus()}>
          Skip to content
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
      {paletteOpenCount > 0 && (
        <Suspense>
          <Palette openCount={paletteOpenCount} />
        </Suspense>
      )}
      {isHelpOpen && <KeyHelp onClose={help.close} />}
    </AppShell>
  );
}
