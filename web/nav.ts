// The pages in the navigation.

import type { Scope } from '#contract/common.ts';
import type { IconName } from './component/icon.tsx';

export type NavPage = {
  readonly to: '/' | '/health' | '/tests' | '/uploads' | '/tokens' | '/webhooks' | '/git-hosts' | '/audit';
  readonly icon: IconName;
  readonly label: string;
  /** The link keeps the repository of the current page. */
  readonly isOfRepo?: boolean;
  /** The scope that a user needs to see it; absent: none. */
  readonly scope?: Scope;
};

const navPages: readonly NavPage[] = [
  { to: '/', icon: 'queue', label: 'Home' },
  { to: '/health', icon: 'live', label: 'Health', isOfRepo: true },
  { to: '/tests', icon: 'flask', label: 'Tests', isOfRepo: true },
  { to: '/uploads', icon: 'drain', label: 'Uploads', isOfRepo: true },
  { to: '/tokens', icon: 'key', label: 'Tokens', scope: 'admin' },
  { to: '/webhooks', icon: 'link', label: 'Webhooks', scope: 'admin' },
  { to: '/git-hosts', icon: 'switch', label: 'Git hosts', scope: 'admin' },
  { to: '/audit', icon: 'shield', label: 'Audit log', scope: 'admin' },
];

export const navPagesFor = (scopes: readonly Scope[]): readonly NavPage[] =>
  navPages.filter(({ scope }) => scope === undefined || scopes.includes(scope));
