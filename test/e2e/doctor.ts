// `npm run e2e:doctor [-- --json]`: `signalbox doctor` on repositories of a real Gitea, of which one is set up well and five
// are not, each in its own way. Every fault must be named, with its fix, and nothing else.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createCleanup } from '../bench/fixture.ts';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';
import { startGitea } from '../gitea/server.ts';
import { openGiteaPlace } from '../host-contract/gitea-world.ts';
import { connectTo, organization } from './deployment.ts';
import type { E2eHost } from './host.ts';

type Finding = { readonly verdict: string; readonly what: string; readonly fix: string | null };

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const cleanup = createCleanup();
try {
  const gitea = await startGitea();
  cleanup.add(gitea.stop);
  const author = await gitea.newUser('ada');
  const bot = await gitea.newUser('signalbox-bot');
  const people = new Map([author, bot].map((user) => [user.name, user]));
  const scene = { gitea, people, author, bot, onProtected: () => undefined };
  const hostName = new URL(gitea.url).host;
  const host: Pick<E2eHost, 'connect'> = {
    connect: async (folder) => {
      await writeFile(join(folder, 'token'), bot.token, { mode: 0o600 });
      return ['--kind', 'gitea', '--url', gitea.url, '--token-file', join(folder, 'token')];
    },
  };
  const { command, webhook } = await connectTo(cleanup, host, { sweepSeconds: 30 });

  /** A repository that is set up well but for what `spoil` does to it. */
  const examine = async (name: string, spoil: (ask: Ask, place: Place) => Promise<unknown>) => {
    const place = await openGiteaPlace(scene, name);
    const ask: Ask = (method, path, body) =>
      gitea.call(author.token, method, `${place.gitea.path}${path}`, body);
    await place.addWebhook(webhook.url, webhook.secret);
    const { commit } = (await ask('GET', '/branches/main')) as { commit: { id: string } };
    await place.report(commit.id, { name: 'ci/test', state: 'success' });
    await place.protect('main', { requiredChecks: ['ci/test'] });
    await spoil(ask, place);
    const args = ['--repo', `${hostName}/${author.name}/${name}`, '--branch', 'main'];
    const { code, stdout, stderr } = await command('doctor', organization, ...args, '--json');
    if (stdout === '') return { code, faults: [`wrong: ${stderr.trim()}`] };
    const findings = JSON.parse(stdout) as readonly Finding[];
    const faults = findings
      .filter(({ verdict }) => verdict !== 'right')
      .map(({ verdict, what, fix }) => `${verdict}: ${what} → ${fix}`);
    return { code, faults };
  };

  type Ask = (method: string, path: string, body?: object) => Promise<unknown>;
  type Place = Awaited<ReturnType<typeof openGiteaPlace>>;
  const cases: readonly [string, (ask: Ask, place: Place) => Promise<unknown>, RegExp | null][] = [
    ['well', () => Promise.resolve(), null],
    [
      'read-only',
      (ask) => ask('PUT', `/collaborators/${bot.name}`, { permission: 'read' }),
      /may only read the repository.*write access/,
    ],
    [
      'no-webhook',
      async (ask) => {
        for (const { id } of (await ask('GET', '/hooks')) as { id: number }[])
          await ask('DELETE', `/hooks/${id}`);
      },
      /No webhook sends events to Signalbox.*Add a webhook to http/,
    ],
    [
      'closed-branch',
      (_ask, place) => place.protect('main', { requiredChecks: ['ci/test'], pushers: [author.name] }),
      /does not let Signalbox push.*Allow the account of Signalbox to push/,
    ],
    [
      'misspelled-check',
      (_ask, place) => place.protect('main', { requiredChecks: ['ci/tset'] }),
      /“ci\/tset” is required but did not report.*reported recently: ci\/test/,
    ],
    [
      'test-branches-forbidden',
      (ask) =>
        ask('POST', '/branch_protections', {
          rule_name: 'signalbox/**',
          enable_push: true,
          enable_push_whitelist: true,
          push_whitelist_usernames: [author.name],
        }),
      /keeps Signalbox from creating or deleting test branches.*Exclude signalbox/,
    ],
    [
      'no-manual-merge',
      (ask) => ask('PATCH', '', { has_pull_requests: true, allow_manual_merge: false }),
      /does not let Signalbox mark pull requests as merged.*manually merged/,
    ],
  ];
  const figures: Figure[] = [];
  for (const [name, spoil, wanted] of cases) {
    const { code, faults } = await examine(name, spoil);
    console.error(`${name}: ends with ${code}\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    const isWarning = faults[0]?.startsWith('warning') === true;
    const isFound =
      wanted === null
        ? faults.length === 0 && code === 0
        : faults.length === 1 && wanted.test(faults[0]!) && code === (isWarning ? 0 : 1);
    figures.push({ name: `doctor, ${name}`, value: isFound ? 1 : 0, goal: '1', isMet: isFound });
  }
  if (values.json) console.log(JSON.stringify({ figures }, null, 2));
  else for (const figure of figures) console.log(lineOf(figure));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await cleanup.run();
}
