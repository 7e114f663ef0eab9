// The pages and their URLs. Repository and branch are in the query, because both may contain slashes.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { NotFound } from './component/query-result.tsx';
import { Shell } from './shell/shell.tsx';
import { healthSearch } from './history/health-search.ts';
import type { QueueSearch } from './name.ts';
import type { GitHostsSearch } from './account/app-registration.tsx';
import type { SignInSearch } from './account/sign-in-problem.ts';
import { queueSorts, type QueueSort } from './home/queue-order.ts';
import { type TestsSearch, testTabs, type UploadsSearch, uploadStates } from './test-health/test-tab.ts';

const parseSearchText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

const queueSearch = (search: Record<string, unknown>): QueueSearch => ({
  repo: parseSearchText(search['repo']),
  branch: parseSearchText(search['branch']),
});

type RepoSearch = { readonly repo?: string };

const repoSearch = (search: Record<string, unknown>): RepoSearch => {
  const repo = parseSearchText(search['repo']);
  return repo === '' ? {} : { repo };
};

/** The search parameters of these names that are not empty. */
const pickSearchTexts = <Name extends string>(search: Record<string, unknown>, names: readonly Name[]) =>
  Object.fromEntries(
    names.map((name) => [name, parseSearchText(search[name])]).filter(([, value]) => value !== ''),
  ) as Partial<Record<Name, string>>;

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: (search): { readonly q?: string; readonly sort?: QueueSort; readonly whose?: 'all' } => {
    const q = parseSearchText(search['q']);
    const sort = queueSorts.find((known) => known === search['sort']);
    const whose = search['whose'] === 'all' && ({ whose: 'all' } as const);
    return { ...(q !== '' && { q }), ...(sort && { sort }), ...whose };
  },
  component: lazyRouteComponent(() => import('./page/home.tsx'), 'HomePage'),
});

const queueRoute = createRoute({
  getParentRoute: () => root,
  path: '/queue',
  validateSearch: (search): QueueSearch & { find?: string | undefined; view?: 'graph' } => {
    const find = parseSearchText(search['find']);
    const view = search['view'] === 'graph' && ({ view: 'graph' } as const);
    return { ...queueSearch(search), ...(find && { find }), ...view };
  },
  component: lazyRouteComponent(() => import('./page/queue.tsx'), 'QueuePage'),
});

const pullRequestRoute = createRoute({
  getParentRoute: () => root,
  path: '/pull-request',
  validateSearch: (search) => ({ ...queueSearch(search), number: Number(search['number']) || 0 }),
  component: lazyRouteComponent(() => import('./page/pull-request.tsx'), 'PullRequestPage'),
});

const healthRoute = createRoute({
  getParentRoute: () => root,
  path: '/health',
  validateSearch: healthSearch,
  component: lazyRouteComponent(() => import('./page/health.tsx'), 'HealthPage'),
});

const testsRoute = createRoute({
  getParentRoute: () => root,
  path: '/tests',
  validateSearch: (search): TestsSearch => {
    const tab = testTabs.find((known) => known === search['tab']);
    return { ...repoSearch(search), ...(tab && { tab }), ...pickSearchTexts(search, ['q', 'owner', 'page']) };
  },
  component: lazyRouteComponent(() => import('./page/tests.tsx'), 'TestsPage'),
});

const testRoute = createRoute({
  getParentRoute: () => root,
  path: '/tests/$id',
  validateSearch: repoSearch,
  component: lazyRouteComponent(() => import('./page/test.tsx'), 'TestPage'),
});

const uploadsRoute = createRoute({
  getParentRoute: () => root,
  path: '/uploads',
  validateSearch: (search): UploadsSearch => {
    const state = uploadStates.find((known) => known === search['state']);
    const isNarrow = search['problems'] === true || search['problems'] === 'true';
    return {
      ...repoSearch(search),
      ...(state && { state }),
      ...(isNarrow && { problems: true as const }),
      ...pickSearchTexts(search, ['page']),
    };
  },
  component: lazyRouteComponent(() => import('./page/uploads.tsx'), 'UploadsPage'),
});

const tokensRoute = createRoute({
  getParentRoute: () => root,
  path: '/tokens',
  validateSearch: (search): { ended?: true } => (search['ended'] === true ? { ended: true } : {}),
  component: lazyRouteComponent(() => import('./page/tokens.tsx'), 'TokensPage'),
});

const deliveryStates = ['pending', 'delivered', 'dead'] as const;
type WebhooksSearch = { endpoint?: string; state?: (typeof deliveryStates)[number] };

const webhooksRoute = createRoute({
  getParentRoute: () => root,
  path: '/webhooks',
  validateSearch: (search): WebhooksSearch => {
    const state = deliveryStates.find((each) => each === search['state']);
    return { ...pickSearchTexts(search, ['endpoint']), ...(state && { state }) };
  },
  component: lazyRouteComponent(() => import('./page/webhooks.tsx'), 'WebhooksPage'),
});

const gitHostsRoute = createRoute({
  getParentRoute: () => root,
  path: '/git-hosts',
  validateSearch: (search): GitHostsSearch => ({
    ...pickSearchTexts(search, ['code', 'state', 'setup_action']),
    ...(search['connect'] === true && { connect: true }),
  }),
  component: lazyRouteComponent(() => import('./page/git-hosts.tsx'), 'GitHostsPage'),
});

const uploadRoute = createRoute({
  getParentRoute: () => root,
  path: '/uploads/$id',
  validateSearch: repoSearch,
  component: lazyRouteComponent(() => import('./page/upload.tsx'), 'UploadPage'),
});

const signInRoute = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search): SignInSearch => ({
    ...(typeof search['problem'] === 'string' && { problem: search['problem'] }),
    ...(typeof search['return'] === 'string' && { return: search['return'] }),
    ...(typeof search['request'] === 'string' && { request: search['request'].slice(0, 128) }),
  }),
  component: lazyRouteComponent(() => import('./page/signed-in.tsx'), 'SignedInPage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: queueSearch,
  component: lazyRouteComponent(() => import('./page/settings.tsx'), 'SettingsPage'),
});

const doctorRoute = createRoute({
  getParentRoute: () => root,
  path: '/doctor',
  validateSearch: queueSearch,
  component: lazyRouteComponent(() => import('./page/doctor.tsx'), 'DoctorPage'),
});

const testSettingsRoute = createRoute({
  getParentRoute: () => root,
  path: '/tests/settings',
  validateSearch: repoSearch,
  component: lazyRouteComponent(() => import('./page/test-settings.tsx'), 'TestSettingsPage'),
});

const accuracyRoute = createRoute({
  getParentRoute: () => root,
  path: '/tests/accuracy',
  validateSearch: repoSearch,
  component: lazyRouteComponent(() => import('./page/accuracy.tsx'), 'AccuracyPage'),
});

const auditKeys = ['actor', 'action', 'subject', 'since', 'until', 'cursor'] as const;
type AuditRouteSearch = { readonly [Key in (typeof auditKeys)[number]]?: string };

const auditRoute = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: (search): AuditRouteSearch =>
    Object.fromEntries(
      auditKeys.map((key) => [key, parseSearchText(search[key])]).filter(([, value]) => value !== ''),
    ) as AuditRouteSearch,
  component: lazyRouteComponent(() => import('./page/audit.tsx'), 'AuditPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    queueRoute,
    pullRequestRoute,
    testsRoute,
    testRoute,
    uploadsRoute,
    tokensRoute,
    webhooksRoute,
    gitHostsRoute,
    uploadRoute,
    signInRoute,
    settingsRoute,
    doctorRoute,
    testSettingsRoute,
    accuracyRoute,
    auditRoute,
    healthRoute,
  ]),
  basepath: '/app',
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- the library's own type is added to
  interface Register {
    router: typeof router;
  }
}
