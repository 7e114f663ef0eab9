// How git is called for a fetch.

import { remoteName } from './run.ts';

/** A fetch of refspecs that are its input. It reports its progress, which is what shows that it is alive. */
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
