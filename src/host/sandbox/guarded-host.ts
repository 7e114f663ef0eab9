// The sandbox host behind a guard. A host can be connected at any moment by another process, and from that moment on the
// sandbox must not answer for it: not with a pull request that it makes up, not with a landing that goes to a folder. So
// every call asks first, and what the guard throws is the answer.

import type { Host } from '../host.ts';
import type { SandboxHost } from './host.ts';

type Immediate = {
  [Name in keyof Host]-?: NonNullable<Host[Name]> extends (...args: never[]) => infer Result
    ? Result extends Promise<unknown>
      ? never
      : Name
    : never;
}[keyof Host];

/** These answer without waiting, and say nothing about a repository. */
const immediate: { readonly [Name in Immediate]: true } = {
  showsPushedAsMerged: true,
  trialMergeRef: true,
  parseWebhook: true,
};

type Call = (...args: readonly unknown[]) => Promise<unknown>;

export function guardedSandbox(host: SandboxHost, requireServed: () => Promise<void>): SandboxHost {
  const guard = <Calls extends object>(calls: Calls): Calls => {
    const entries = Object.entries(calls).map(([name, value]: [string, unknown]) => {
      if (typeof value !== 'function' || name in immediate) return [name, value] as const;
      const call = value as Call;
      const guarded: Call = async (...args) => {
        await requireServed();
        return call(...args);
      };
      return [name, guarded] as const;
    });
    return Object.fromEntries(entries) as Calls;
  };
  return { ...guard(host), control: guard(host.control) };
}
