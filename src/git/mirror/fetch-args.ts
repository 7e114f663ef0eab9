// The arguments of `git fetch`.

import { remoteName } from '../run.ts';

/** A fetch with the refspecs as its input. Its progress output shows that it is alive. */
export const fetchArgs = (isPromised: boolean): readonly string[] => [
  'fetch',
  '--progress',
  '--stdin',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
  '--refmap=',
  ...(isPromised ? ['--filter=blob:none'] : []),
  remoteName,
];
