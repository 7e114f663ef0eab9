// `npm run build:cli`: `signalbox test` and `signalbox upload` in one file, dist/signalbox.mjs, for machines of CI. It needs
// Node.js and nothing else.
import { chmodSync, statSync } from 'node:fs';
import { build, type Plugin } from 'rolldown';

const [file = 'dist/signalbox.mjs'] = process.argv.slice(2);

/** The service itself is no part of it. */
const withoutService: Plugin = {
  name: 'without-service',
  resolveId: (id) => (id === './main.ts' ? '\0service' : null),
  load: (id) =>
    id === '\0service'
      ? `export async function main([command]) {
          console.error('signalbox ' + command + ' is a command of the service, and this file holds the client only. Install the package.');
          return 2;
        }`
      : null,
};

await build({
  input: 'src/signalbox.ts',
  platform: 'node',
  plugins: [withoutService],
  output: { file, format: 'esm', minify: true, codeSplitting: false },
});
chmodSync(file, 0o755);
console.log(`${file}: ${Math.round(statSync(file).size / 1024)} KiB`);
