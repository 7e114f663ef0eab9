// `npm run build`: src/ as JavaScript in dist/, file by file, for the npm package: Node.js does not run TypeScript below
// node_modules. Files keep their places, so that what they find beside them (migration/, web/dist, package.json) is where
// it is in a checkout. npm packages stay imports.
import { readdirSync, rmSync } from 'node:fs';
import { build } from 'rolldown';

const [folder = 'dist'] = process.argv.slice(2);

rmSync(folder, { recursive: true, force: true });
await build({
  // Threads and processes are started by the names of their files, which no import shows.
  input: [
    'src/signalbox.ts',
    'src/config/yaml-process.ts',
    'src/git/launcher-process.ts',
    'src/job/worker/watchdog-thread.ts',
  ],
  platform: 'node',
  external: (id) => id.endsWith('/package.json') || !/^[.#/\0]/.test(id),
  output: { dir: folder, format: 'esm', preserveModules: true, preserveModulesRoot: 'src' },
});
console.log(`${folder}: ${readdirSync(folder, { recursive: true }).length} files`);
