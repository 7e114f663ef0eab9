// A process that reaches a Git host as Signalbox does, with the variables that it was given: what node and what git say of
// the address in its argument, as JSON.

import { openMirror } from '#git/mirror/mirror.ts';
import { configureNetwork } from '../../src/network.ts';
import { silentLog } from './silent-log.ts';

const [url = '', folder = ''] = process.argv.slice(2);
const environment = configureNetwork(process.env, folder, silentLog);
const mirror = await openMirror(`${folder}/mirror.git`, { url }, { environment });
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'reached',
    (error: unknown) => (error as { output?: string }).output ?? String(error),
  );
const node = await outcome(mirror.remoteRefs(['refs/heads/main']));
const git = await outcome(mirror.fetch({ branch: 'main', pulls: [] }));
await mirror.close();
console.log(JSON.stringify({ node, git }));
