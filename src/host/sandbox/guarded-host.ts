// The sandbox host behind a guard. Another process can connect a host at any moment, and from then on the
// sandbox must not answer for it: neither with a made-up pull request nor with a landing that goes to a
// folder. So every call checks the guard first, and throws what the guard throws.

import type { Host } from '../host.ts';
import type { SandboxHost } from './host.ts';

type Immediate = {
  [Name in keyof Host]-?: NonNullable<Host[Name]> extends (...args: never[]) => infer Result
    ? Result extends Promise<unknown>
      ? never
      : Name
    : never;
}[keyof Host];

/** These answer synchronously, and say nothing about a repository. */
const immediate: { readonly [Name in Immediate]: true } = {
  showsPushedAsMerged: true,
  trialMergeRef: true,
  parseWebhook: true,
};

type SandboxMethod = (...args: readonly unknown[]) => Promise<unknown>;

export function guardedSandbox(host: SandboxHost, requireServed: () => Promise<void>): SandboxHost {
  const guard = <Calls extends object>(calls: Calls): Calls => {
    const entries = Object.entries(calls).map(([name, value]: [string, unknown]) => {
      if (typeof value !== 'function' || name in immediate) return [name, value] as const;
      const call = value as SandboxMethod;
      const guarded: SandboxMethod = async (...args) => {
        await requireServed();
        return call(...args);
      };
      return [name, guarded] as const;
    });
    return Object.fromEntries(entries) as Calls;
  };
  return { ...guard(host), control: guard(host.control) };
}
