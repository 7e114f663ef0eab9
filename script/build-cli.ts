// `npm run build:cli`: the commands of clients in one file, dist/signalbox.mjs, for machines of CI. It needs
// Node.js and nothing else.
import { chmodSync, statSync } from 'node:fs';
import { build, type Plugin } from 'rolldown';

const [file = 'dist/signalbox.mjs'] = process.argv.slice(2);

const sayAbsent = `console.error('This is a command of the service, and this file holds the client only. Install the package: npm install signalbox');
  return 2;`;

/** The service itself is no part of it. */
const stubs: Readonly<Record<string, string>> = {
  './main.ts': `export async function main() { ${sayAbsent} }`,
  './tool/demo/demo.ts': `export async function demo() { ${sayAbsent} }`,
  // The adapters of Git hosts: only the service connects to one (src/host/host-kind.ts).
  './host.ts': '',
};

const withoutService: Plugin = {
  name: 'without-service',
  resolveId: (id) => (id in stubs ? `\0${id}` : null),
  load: (id) => stubs[id.slice(1)] ?? null,
};

await build({
  input: 'src/signalbox.ts',
  platform: 'node',
  plugins: [withoutService],
  output: { file, format: 'esm', minify: true, codeSplitting: false },
});
chmodSync(file, 0o755);
console.log(`${file}: ${Math.round(statSync(file).size / 1024)} KiB`);
