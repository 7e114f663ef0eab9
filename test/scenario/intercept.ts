// Something happens at every call that a landing makes: `before` and `after` each call of the host and of git that moves or
// reads something there, by name and in order.

import type { Host, HostFor } from '#host/host.ts';
import type { Mirrors } from '#job/mirrors.ts';
import type { WorldOptions } from '../support/harness.ts';

type Hook = (call: string) => Promise<void> | void;

const hostCalls = [
  'readPullRequest',
  'readRequiredChecks',
  'remoteOf',
  'merge',
  'afterPush',
  'markMerged',
  'writeComment',
] as const satisfies readonly (keyof Host)[];
const gitCalls = ['fetch', 'push', 'remoteRefs'] as const;

export type Intercepted = {
  readonly options: WorldOptions;
  before: Hook;
  after: Hook;
  isServed: boolean;
};

type Call = (...args: readonly unknown[]) => Promise<unknown>;

export function intercept(): Intercepted {
  const wrap = <Names extends string>(
    thing: Readonly<Record<Names, unknown>>,
    names: readonly Names[],
    prefix: string,
  ) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        async (...args: readonly unknown[]) => {
          await hooks.before(`${prefix}${name}`);
          const answer = await (thing[name] as Call)(...args);
          await hooks.after(`${prefix}${name}`);
          return answer;
        },
      ]),
    );
  const wrapped = new WeakMap<Host, Host>();
  const wrapHosts =
    (hostFor: HostFor): HostFor =>
    (cell, name) => {
      const host = hooks.isServed ? hostFor(cell, name) : null;
      if (host === null) return null;
      const known = wrapped.get(host) ?? { ...host, ...wrap(host, hostCalls, '') };
      wrapped.set(host, known);
      return known;
    };
  const wrapMirrors = (mirrors: Mirrors): Mirrors => ({
    ...mirrors,
    open: async (...args) => {
      const mirror = await mirrors.open(...args);
      return { ...mirror, ...wrap(mirror, gitCalls, 'git ') };
    },
  });
  const hooks: Intercepted = {
    options: { wrapHosts, wrapMirrors },
    before: () => undefined,
    after: () => undefined,
    isServed: true,
  };
  return hooks;
}
