// No fake host: a real host is never answered for by the sandbox. And the doctor says beforehand what would go wrong.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultSettings } from '#core/queue/settings.ts';
import { openCell } from '#db/cell.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import { examine } from '#host/examine.ts';
import type { GitRemote } from '#host/host.ts';
import { createMirrors } from '#job/mirrors.ts';
import { openHosts } from '../../../src/hosts.ts';
import { gitIn } from './audit.ts';
import type { Situation } from './model.ts';
import type { Scene } from './scene.ts';
import { silentLog } from '../../support/silent-log.ts';

/** A cell whose database does not answer. */
const deadCell = () =>
  openCell({
    name: 'dead',
    url: 'postgres://nobody@127.0.0.1:1/nothing',
    connections: 1,
    readerConnections: 1,
    onError: () => undefined,
  });

async function hostsOf({ world }: Scene, sandbox: 'on' | 'auto', isOnlyDead = false) {
  const dead = deadCell();
  const options = {
    sandbox,
    sandboxScripts: false,
    dataDir: '/nonexistent',
    secretKey: null,
    publicUrl: null,
    clock: world.clock,
    log: silentLog,
  };
  try {
    return await openHosts(options, isOnlyDead ? [dead] : [dead, world.cell]);
  } finally {
    await dead.close();
  }
}

type Settings = Partial<typeof defaultSettings>;

/** What the doctor says of the repository, as `signalbox doctor` asks. */
async function findingsOf({ world, host }: Scene, settings: Settings) {
  const adapter = world.hostFor(world.cell.name, host.repo.host)!;
  const { id: organizationId } = await ensureOrganization(world.cell.db, 'acme', 'acme');
  const found = await ensureRepository(world.cell.db, organizationId, { ...host.repo, isSandbox: false });
  const repository = { ...found, organizationId };
  const queue = { targetBranch: 'main', settings: { ...defaultSettings, ...settings } };
  const asked = { queue, webhookUrls: ['http://localhost/hooks/none'] } as const;
  return (await examine(adapter, repository, asked)).findings;
}

async function doctorFinds(scene: Scene, settings: Settings, wanted: RegExp): Promise<string> {
  const findings = await findingsOf(scene, settings);
  const found = findings.find(({ verdict, what }) => verdict !== 'right' && wanted.test(what));
  const shown = findings.map(({ verdict, what }) => `${verdict}: ${what}`).join(' ');
  scene.must(found !== undefined, `the doctor says: ${shown}`);
  return `the doctor says: ${found!.what}`;
}

export const connectionSituations: readonly Situation[] = [
  {
    name: 'a process starts while its only database does not answer',
    must: 'it does not start: it would not know which hosts are real',
    hosts: ['sandbox'],
    run: async (scene) => {
      const outcome = await hostsOf(scene, 'on', true).then(
        () => 'started',
        () => 'refused',
      );
      scene.must(outcome === 'refused', 'it started');
      return 'it did not start';
    },
  },
  {
    name: 'a process starts while the database of another cell does not answer',
    must: 'the connected host of the healthy cell is served by its own adapter, never by the sandbox',
    hosts: ['github', 'gitea'],
    run: async (scene) => {
      const hosts = await hostsOf(scene, 'on');
      const kind = hosts.hostFor('main', scene.host.repo.host)?.kind ?? 'none';
      hosts.close();
      scene.must(kind === scene.host.kind, `it is served by ${kind}`);
      return `it is served by ${kind}`;
    },
  },
  {
    name: 'a host is connected, and a name without a connection is asked for',
    must: 'the sandbox does not serve that name unless SIGNALBOX_SANDBOX=on asks for it',
    hosts: ['github', 'gitea'],
    run: async (scene) => {
      const hosts = await hostsOf(scene, 'auto');
      const kind = hosts.hostFor('main', 'git.example.com')?.kind ?? 'no host';
      hosts.close();
      scene.must(kind === 'no host', `it is served by ${kind}`);
      return 'no host serves it';
    },
  },
  {
    name: 'a repository is served from another address than before',
    must: 'the branch is fetched from the new address, and never from the old one',
    hosts: ['github', 'gitea'],
    run: async (scene) => {
      const { world, host } = scene;
      const folder = await mkdtemp(join(tmpdir(), 'signalbox-trust-'));
      const mirrors = createMirrors(join(folder, 'mirror'));
      try {
        const former = join(folder, 'former.git');
        await gitIn('/', 'clone', '--quiet', '--bare', host.directory, former);
        const now = await host.pushToMain({ 'now.txt': 'now\n' });
        scene.audit.foreign(now);
        const adapter = world.hostFor(world.cell.name, host.repo.host)!;
        const { id: organizationId } = await ensureOrganization(world.cell.db, 'acme', 'acme');
        const found = await ensureRepository(world.cell.db, organizationId, {
          ...host.repo,
          isSandbox: false,
        });
        const tipFrom = async (remote: () => Promise<GitRemote>) => {
          const mirror = await mirrors.open(found.id, remote);
          return (await mirror.fetch({ branch: 'main', pulls: [] })).tip;
        };
        const before = await tipFrom(() => Promise.resolve({ url: former }));
        const after = await tipFrom(() => adapter.remoteOf({ ...found, organizationId }));
        scene.must(before !== now && after === now, `it was fetched from where it was before: ${after}`);
        return 'it was fetched from the new address';
      } finally {
        await mirrors.close();
        await rm(folder, { recursive: true, force: true });
      }
    },
  },
  {
    name: 'the doctor, where merge commits meet a linear history',
    must: 'it says that nothing would land',
    hosts: ['github'],
    run: async (scene) => {
      const { server, fullName } = scene.host.github!;
      server.addRuleset(fullName, { rules: [{ type: 'required_linear_history' }] });
      return doctorFinds(scene, { mergeMethod: 'merge_commit' }, /linear/i);
    },
  },
  {
    name: 'the doctor, where others may update the branch and the merge call lands',
    must: 'it says what the mode guarantees, and is not content',
    hosts: ['github'],
    run: (scene) => doctorFinds(scene, { landingMode: 'host' }, /else|other|anybody|people/i),
  },
  ...[
    ['a job that skips drafts', 'if: github.event.pull_request.draft == false', /draft/i],
    ['a job for `merge_group` only', "if: github.event_name == 'merge_group'", /merge_group/],
    ['`needs:` without `if: always()`', 'needs: [unit]', /needs|always/],
  ].map(([name, line, wanted]): Situation => ({
    name: `the doctor, where the required check is ${String(name)}`,
    must: 'it warns before the first run',
    hosts: ['github'],
    set: {
      files: {
        '.github/workflows/ci.yml': `name: ci\non: [push, pull_request, merge_group]\njobs:\n  unit:\n    runs-on: x\n    steps: [{ run: y }]\n  test:\n    name: ci/test\n    runs-on: x\n    ${String(line)}\n    steps: [{ run: y }]\n`,
      },
    },
    run: (scene) => doctorFinds(scene, { createPrsForTestingBranches: true }, wanted as RegExp),
  })),
];
