// The documentation as typed: every block of shell of a page is run, in one shell, against the real processes, and what
// the page shows of the output must be there, line by line and in that order. What cannot run says why in a comment.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, databaseUrl, dropDatabase } from '../support/database.ts';
import { type ServerProcess, startProcess } from '../support/server-process.ts';
import { type Page, pageFiles, readPage, type Step } from './page.ts';
import { openShell, type Shell } from './shell.ts';

const pages = pageFiles().map(readPage);

/** A page that continues another one has that one's steps before its own. */
function wholeStory(page: Page): readonly Step[] {
  if (page.continuedPage === null) return page.steps;
  const before = pages.find(({ file }) => file === page.continuedPage);
  if (before === undefined)
    throw new Error(`${page.file} continues ${page.continuedPage}, which does not exist.`);
  return [...wholeStory(before), ...page.steps];
}

describe('the commands of a page', () => {
  let database: string;
  let server: ServerProcess;
  let shell: Shell;
  beforeEach(async () => {
    database = await createDatabase();
    server = await startProcess('start', databaseUrl(database), {
      SIGNALBOX_BOOTSTRAP_ORG: 'acme',
      SIGNALBOX_BOOTSTRAP_TOKEN: 'try-signalbox-token',
    });
    shell = openShell({ DATABASE_URL: databaseUrl(database) });
  });
  afterEach(async () => {
    shell.close();
    await server.stop();
    await dropDatabase(database);
  });

  const runnable = pages.filter(({ steps }) => steps.length > 0);

  it.each(runnable.map((page) => [page.file, page] as const))('%s', { timeout: 300_000 }, async (_, page) => {
    for (const step of wholeStory(page)) {
      if (step.isServiceStopped) await server.stop();
      let outcome = '';
      const until = performance.now() + (step.isRepeated ? 20_000 : 0);
      do outcome = await follow(shell, step, server.url, page.file);
      while (outcome !== 'as shown' && performance.now() < until);
      expect(outcome).toBe('as shown');
    }
  });
});

/** What differs each time, and what the page left out. */
const anything = /…|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{40}|\d{4}-\d\d-\d\dT[\d:.]+Z/;

async function follow(
  shell: Shell,
  { heading, commands, shown, exitCode }: Step,
  url: string,
  file: string,
): Promise<string> {
  const local = commands.replaceAll(/http:\/\/([^@\s/]*@)?localhost:8080/g, (_, who: string | undefined) =>
    url.replace('http://', `http://${who ?? ''}`),
  );
  const ended = await shell.type(local);
  const typed = `${file}: ${heading}\n${commands}\n`;
  if (ended.exitCode !== exitCode) return `${typed}ended with ${ended.exitCode}:\n${ended.output}`;
  if (/"error":|command not found|No such file/.test(ended.output)) return `${typed}says:\n${ended.output}`;
  // Pages break and indent long lines; the service does not.
  const output = ended.output.replaceAll(/\s/g, '');
  let at = 0;
  for (const part of shown.flatMap((line) =>
    line.split(anything).map((text) => text.replaceAll(/\s/g, '')),
  )) {
    const found = output.indexOf(part, at);
    if (found < 0) return `${typed}must show: ${part}\n\nand shows:\n${ended.output}`;
    at = found + part.length;
  }
  return 'as shown';
}
