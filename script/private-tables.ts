// `npm run lint:jobs`: no statement names a table that is private to the job library. It may change them in any release;
// what it documents is enough (docs/decision/0023-job-interface.md).
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Files that may: each with its reason. */
const excused: Readonly<Record<string, string>> = {
  'script/private-tables.ts': 'Names what it looks for.',
  'test/service/race.test.ts':
    'Stops a worker between taking a job and its commit, which nothing documented can.',
  'test/e2e/trust/scene.ts': 'Counts jobs from outside the service.',
  'test/e2e/trust/world.ts': 'Lets jobs be due from outside the service.',
};

const folders = ['src', 'web', 'script', 'migration', 'test'];
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...folders], {
  encoding: 'utf8',
});
const problems = files
  .split('\n')
  .filter((file) => /\.(?:ts|tsx|sql)$/.test(file) && !(file in excused))
  .flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, at) => (line.includes('_private_') ? [`${file}:${at + 1}: ${line.trim()}`] : [])),
  );
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error('These tables are private to the job library: use its functions and the view of its jobs.');
  process.exitCode = 1;
}
