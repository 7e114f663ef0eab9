// docs/guide/flaky-tests.md, as typed: every block of shell in it is run, in one shell, against the real processes. What
// the guide shows of the output must be there, line by line and in that order.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, databaseUrl, dropDatabase } from '../database.ts';
import { type ServerProcess, startProcess } from '../server-process.ts';

const token = 'try-signalbox-token';

type Step = {
  readonly heading: string;
  readonly commands: string;
  readonly shown: readonly string[];
  readonly isAway: boolean;
};

function stepsOf(guide: string): readonly Step[] {
  const steps: Step[] = [];
  let heading = '';
  let isAway = false;
  for (const [whole, title, language, body = ''] of guide.matchAll(
    /^## (.+)$|^```(\w+)\n([^]*?)^```$|^<!-- the service is stopped here -->$/gm,
  )) {
    if (title !== undefined) heading = title;
    else if (language === undefined) isAway = whole !== '';
    else if (language === 'sh') steps.push({ heading, commands: body, shown: [], isAway });
    else steps.push({ ...steps.pop()!, shown: body.trimEnd().split('\n') });
  }
  return steps;
}

/** A shell that is typed into. */
function openShell(cwd: string) {
  const shell: ChildProcessWithoutNullStreams = spawn('bash', ['--norc', '--noprofile'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], npm_config_update_notifier: 'false' },
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  let typed = 0;
  return {
    type: async (commands: string): Promise<string> => {
      typed += 1;
      const [from, mark] = [output.length, `--- done ${typed} ---`];
      shell.stdin.write(`${commands}\necho; echo '${mark}'; echo '${mark}' >&2\n`);
      await expect
        .poll(() => output.slice(from).split(mark).length, { timeout: 60_000, interval: 20 })
        .toBe(3);
      return output.slice(from).replaceAll(mark, '');
    },
    close: () => shell.kill(),
  };
}

describe('the guide to flaky tests', () => {
  const folder = `.data/guide-${process.pid}`;
  let database: string;
  let server: ServerProcess;
  let shell: ReturnType<typeof openShell>;
  beforeAll(async () => {
    database = await createDatabase();
    server = await startProcess('start', databaseUrl(database), {
      SIGNALBOX_BOOTSTRAP_ORG: 'acme',
      SIGNALBOX_BOOTSTRAP_TOKEN: token,
    });
    shell = openShell(process.cwd());
  });
  afterAll(async () => {
    shell.close();
    await server.stop();
    await dropDatabase(database);
    rmSync(folder, { recursive: true, force: true });
  });

  // What it says of CI is in service.test.ts.
  const steps = stepsOf(readFileSync('docs/guide/flaky-tests.md', 'utf8').replace(/^## In CI[^]*/m, ''));

  it('has the whole story', () => {
    expect(steps.length).toBeGreaterThan(10);
    expect(steps.filter(({ isAway }) => isAway)).toHaveLength(1);
  });

  it('does what it says, command by command', { timeout: 300_000 }, async () => {
    for (const { heading, commands, shown, isAway } of steps) {
      if (isAway) await server.stop();
      const output = await shell.type(
        commands.replace('http://localhost:8080', server.url).replaceAll('.data/widgets', folder),
      );
      expect(output, `${heading}\n${commands}`).not.toMatch(/"error":|command not found|No such file/);
      let at = 0;
      // An ellipsis stands for anything.
      for (const part of shown.flatMap((line) => line.split('…').map((text) => text.trim()))) {
        const found = output.indexOf(part, at);
        expect(
          found,
          `${heading}\n${commands}\nmust show: ${part}\n\nand shows:\n${output}`,
        ).toBeGreaterThanOrEqual(0);
        at = found + part.length;
      }
    }
  });
});
