// Twenty pull requests in one repository of a real host with CI that really runs: one breaks alone, two break together,
// one is pushed to while it waits, one conflicts, and fifteen are good. They are submitted by comment, by label and by the
// API. What must hold afterwards is looked at from outside: at the host, in git, and by running the tests again.

import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Call } from '../bench/deployment.ts';
import { until } from '../bench/deployment.ts';
import type { Cleanup } from '../bench/fixture.ts';
import { git } from '../fixture/sandbox.ts';
import type { Connected } from './deployment.ts';
import type { E2eHost, E2ePlace } from './host.ts';

/** What the tests of the repository are: a broken part, or both halves of a pair, make them fail. */
const ciScript = `#!/bin/sh
set -e
if [ -e broken.txt ]; then echo 'broken.txt is there'; exit 1; fi
if [ -e pair/a.txt ] && [ -e pair/b.txt ]; then echo 'pair/a.txt and pair/b.txt do not go together'; exit 1; fi
echo "fine: $(ls parts | wc -l) parts"
`;

const firstFiles = {
  'ci.sh': ciScript,
  'shared.txt': 'one line for all\n',
  'parts/0.txt': 'the first part\n',
};

type Kind = 'good' | 'breaks' | 'pair' | 'conflict' | 'pushed';

type Change = {
  readonly kind: Kind;
  readonly files: Readonly<Record<string, string>>;
  readonly number: number;
  readonly branch: string;
};

const good = (name: number) => ({
  kind: 'good' as const,
  files: { [`parts/${name}.txt`]: `part ${name}\n` },
});

/** In the order in which they are submitted. */
const changes: readonly Pick<Change, 'kind' | 'files'>[] = [
  ...[1, 2, 3].map(good),
  { kind: 'conflict', files: { 'shared.txt': 'the line as the first has it\n' } },
  good(4),
  { kind: 'pair', files: { 'pair/a.txt': 'a\n' } },
  good(5),
  { kind: 'breaks', files: { 'broken.txt': 'oh no\n' } },
  ...[6, 7, 8].map(good),
  { kind: 'pair', files: { 'pair/b.txt': 'b\n' } },
  { kind: 'conflict', files: { 'shared.txt': 'the line as the second has it\n' } },
  ...[9, 10, 11, 12, 13, 14].map(good),
  { kind: 'pushed', files: { 'parts/late.txt': 'late\n' } },
];

export type Outcome = {
  readonly place: E2ePlace;
  readonly numbers: readonly number[];
  readonly landed: readonly number[];
  /** What is not as it must be, in words. */
  readonly problems: readonly string[];
  readonly commits: number;
  /** One that landed and one that failed, to look at. */
  readonly examples: { readonly landed: number; readonly failed: number };
  /** Of the host's API, from the first submission to the end; null: the host does not count. */
  readonly calls: readonly string[] | null;
  readonly minutes: number;
};

const label = 'signalbox-submit';

export async function tellStory(
  cleanup: Cleanup,
  host: E2eHost,
  { call, webhook }: Connected,
  { webhooks, settings = {} }: { readonly webhooks: boolean; readonly settings?: object },
): Promise<Outcome> {
  const beganAt = Date.now();
  const place = await host.createRepository(firstFiles);
  if (webhooks) await place.allowWebhook(new URL('.', webhook.url).href);
  const { owner, name } = place;
  const main = { repo: { host: host.hostName, owner, name }, targetBranch: 'main' };
  await until('A queue for the repository', () =>
    call('createQueue', { ...main, requiredStatuses: [host.requiredCheck], ...settings }).catch(
      (error: unknown) =>
        // The connection is seldom a few seconds old.
        String(error).includes('REPOSITORY_NOT_FOUND') ? null : Promise.reject(error as Error),
    ),
  );
  if (!webhooks) await place.removeWebhook();
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-e2e-clone-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  await git(folder, 'clone', '--quiet', place.cloneUrl, 'work');
  const work = join(folder, 'work');
  const base = await git(work, 'rev-parse', 'HEAD');

  console.error(`${changes.length} pull requests are opened`);
  const opened: Change[] = [];
  for (const [index, change] of changes.entries()) {
    const branch = `change-${index + 1}`;
    await git(work, 'checkout', '--quiet', '-B', branch, base);
    await commitFiles(work, change.files, `Change ${index + 1}: ${change.kind}`);
    await git(work, 'push', '--quiet', 'origin', branch);
    const number = await place.openPullRequest({
      branch,
      title: `Change ${index + 1}`,
      body: 'Made for a story.',
    });
    opened.push({ ...change, branch, number });
  }

  const callsBefore = host.calls?.().length ?? 0;
  for (const [index, { number }] of opened.entries()) await submit(place, call, main, number, index);
  await place.grant('visitor', 'read');
  const wanted = opened[2]!.number;
  await place.comment('visitor', wanted, '/signalbox cancel');
  const forged = await forge(webhook.url, main);
  const late = opened.find(({ kind }) => kind === 'pushed')!;
  await until(`#${late.number} in the queue`, async () => (await stateOf(call, main, late.number)).state);
  await git(work, 'checkout', '--quiet', late.branch);
  await commitFiles(work, { 'parts/later.txt': 'later\n' }, 'One more thought');
  await git(work, 'push', '--quiet', 'origin', late.branch);

  await waitForEnds(call, main, opened);
  // What is told and tidied up some seconds later.
  await sleep(8_000);
  const calls = host.calls?.().slice(callsBefore) ?? null;
  const problems = [...host.problems(), ...forged];
  const answers = (await place.listComments(wanted)).map(({ text }) => text);
  if (!answers.some((text) => /`visitor` may not do this: commands need write access/.test(text)))
    problems.push(`whoever may not write was not refused on #${wanted}`);
  const landed = await checkEnds(place, call, main, opened, webhooks, problems);
  const commits = await checkBranch({ work, base, place, call, main, host, problems });
  await checkLeftovers(work, place, opened, landed, problems);
  const failed = opened.find(({ kind }) => kind === 'breaks')!.number;
  return {
    place,
    numbers: opened.map(({ number }) => number),
    landed,
    problems,
    commits,
    examples: { landed: landed[0] ?? 0, failed },
    calls,
    minutes: (Date.now() - beganAt) / 60_000,
  };
}

/** Webhooks that the host never sent: without a signature, and signed with a secret that is not this connection's. */
async function forge(url: string, main: Main): Promise<string[]> {
  const { owner, name } = main.repo;
  const text = JSON.stringify({
    ref: 'refs/heads/main',
    before: '0'.repeat(40),
    after: 'f'.repeat(40),
    repository: { full_name: `${owner}/${name}`, name, owner: { login: owner } },
  });
  const signature = createHmac('sha256', 'the-secret-of-another-repository').update(text).digest('hex');
  const signed = {
    'x-gitea-signature': signature,
    'x-hub-signature-256': `sha256=${signature}`,
  };
  const problems: string[] = [];
  for (const headers of [{}, signed]) {
    const named = { 'x-gitea-event': 'push', 'x-github-event': 'push', 'content-type': 'application/json' };
    const { status } = await fetch(url, { method: 'POST', body: text, headers: { ...named, ...headers } });
    if (status !== 401) problems.push(`a forged webhook was answered with ${status}`);
  }
  return problems;
}

export async function commitFiles(
  work: string,
  files: Readonly<Record<string, string>>,
  message: string,
): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(work, path)), { recursive: true });
    await writeFile(join(work, path), text);
  }
  await git(work, 'add', '--all');
  await git(work, 'commit', '--quiet', '-m', message);
}

type Main = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly targetBranch: string;
};

async function submit(place: E2ePlace, call: Call, main: Main, number: number, index: number): Promise<void> {
  switch (index % 3) {
    case 0:
      await place.comment(place.author, number, 'Please.\n\n/signalbox merge');
      break;
    case 1:
      await place.label(number, label, true);
      break;
    default:
      await call('submitPullRequest', { ...main, pr: { number } });
  }
}

type State = { readonly state: string | null; readonly reason: string | null };

/** Null: it was never submitted. */
const stateOf = (call: Call, main: Main, number: number): Promise<State> =>
  call('getSubmittedPullRequest', { ...main, pr: { number } }).then(
    ({ state, conclusionReason }) => ({ state, reason: conclusionReason }),
    (error: unknown) =>
      String(error).includes('PULL_REQUEST_NOT_SUBMITTED')
        ? { state: null, reason: null }
        : Promise.reject(error as Error),
  );

const ends = new Set(['merged', 'failed', 'cancelled']);

/** The second that conflicts: the test run finds it, or the host does before, and then it waits to be mended. */
const isStuck = ({ kind }: Change, { state }: State): boolean => kind === 'conflict' && state === 'not_ready';

async function waitForEnds(call: Call, main: Main, opened: readonly Change[]): Promise<void> {
  let saidAt = Date.now();
  await until(
    'The end of every pull request',
    async () => {
      const states = await Promise.all(opened.map(({ number }) => stateOf(call, main, number)));
      if (Date.now() - saidAt > 10_000) {
        saidAt = Date.now();
        const counts = Object.entries(Object.groupBy(states, ({ state }) => state ?? 'not submitted'));
        console.error(counts.map(([state, list]) => `${list?.length} ${state}`).join(', '));
      }
      const isOver = (change: Change, index: number) =>
        ends.has(states[index]!.state ?? '') || isStuck(change, states[index]!);
      return opened.every(isOver) ? true : null;
    },
    { everyMs: 1_000, withinMs: 15 * 60_000 },
  );
}

const expectedEnds: {
  readonly [K in Exclude<Kind, 'good' | 'pair' | 'conflict'>]: readonly [string, string, RegExp];
} = {
  breaks: [
    'failed',
    'TEST_RUN_REQUIRED_STATUS_FAILED',
    /Removed from the queue: .*failed[\s\S]*this pull request caused the failure/,
  ],
  pushed: ['cancelled', 'PR_PUSHED_TO', /Cancelled: new commits were pushed/],
};

/** Where no webhook tells of a push, it may be the landing that finds it. */
const foundAtMerge = [
  'failed',
  'PR_UPDATED_AT_MERGE_TIME',
  /Removed from the queue: new commits were pushed/,
] as const;

/** Every pull request has the end it must have, at the host too, and a comment that says why. Answers with who landed. */
async function checkEnds(
  place: E2ePlace,
  call: Call,
  main: Main,
  opened: readonly Change[],
  webhooks: boolean,
  problems: string[],
): Promise<readonly number[]> {
  const landed: number[] = [];
  const seen = new Map<Kind, number>();
  for (const { kind, number } of opened) {
    const { state, reason } = await stateOf(call, main, number);
    const shown = await place.showPullRequest(number);
    const before = seen.get(kind) ?? 0;
    seen.set(kind, before + 1);
    const isSecond = before > 0;
    const [wantedState, wantedReason, wantedWords] =
      kind === 'good' || ((kind === 'pair' || kind === 'conflict') && !isSecond)
        ? (['merged', 'MERGE_GRAPH_MERGE', /Merged into main/] as const)
        : kind === 'pair'
          ? expectedEnds.breaks
          : kind === 'conflict'
            ? isStuck({ kind } as Change, { state, reason })
              ? (['not_ready', null, /Resolve conflicts with its base branch/] as const)
              : ([
                  'failed',
                  'START_TEST_RUN_MERGE_CONFLICT',
                  /Removed from the queue: it has merge conflicts/,
                ] as const)
            : kind === 'pushed' && !webhooks && reason === foundAtMerge[1]
              ? foundAtMerge
              : expectedEnds[kind];
    if (state === 'merged') landed.push(number);
    if (state !== wantedState || reason !== wantedReason)
      problems.push(`#${number} (${kind}) ended as ${state} ${reason}, not ${wantedState} ${wantedReason}`);
    const words = await wordsOf(place, number, wantedWords);
    if (!wantedWords.test(words)) problems.push(`#${number} (${kind}) is told: ${words.slice(0, 200)}`);
    const wantedShown = wantedState === 'merged' ? 'merged' : 'open';
    if (shown.state !== wantedShown)
      problems.push(`the host shows #${number} (${kind}) as ${shown.state}, not ${wantedShown}`);
    if (shown.labels.includes(label)) problems.push(`#${number} still has the label`);
  }
  return landed;
}

/** What Signalbox says there; what lies between beginning and end it says some seconds later. */
async function wordsOf(place: E2ePlace, number: number, wanted: RegExp): Promise<string> {
  for (let tries = 0; ; tries++) {
    const comments = await place.listComments(number);
    // The one that follows it; beside it may be answers.
    const words = comments.findLast(({ text }) => text.includes('<sub>Merge queue of'))?.text ?? '';
    if (wanted.test(words) || tries === 20) return words;
    await sleep(2_000);
  }
}

/** Every commit on the branch is green by its own tests and by its host's word, and is what was tested. */
async function checkBranch(scene: {
  readonly work: string;
  readonly base: string;
  readonly place: E2ePlace;
  readonly call: Call;
  readonly main: Main;
  readonly host: E2eHost;
  readonly problems: string[];
}): Promise<number> {
  const { work, base, place, call, main, host, problems } = scene;
  await git(work, 'fetch', '--quiet', 'origin', 'main');
  const commits = (await git(work, 'rev-list', '--first-parent', `${base}..origin/main`))
    .split('\n')
    .filter(Boolean);
  for (const sha of commits) {
    await git(work, 'checkout', '--quiet', '--force', sha);
    await promisify(execFile)('sh', ['./ci.sh'], { cwd: work }).catch((error: { stdout: string }) =>
      problems.push(`main is red at ${sha.slice(0, 12)}: ${error.stdout}`),
    );
    const landing = await call('getLanding', { ...main, commit: sha }).catch((error: unknown) => {
      problems.push(`${sha.slice(0, 12)} has no attestation: ${String(error)}`);
      return null;
    });
    if (landing === null) continue;
    const { landedTreeSha, testedTreeSha, members } = landing;
    if (landedTreeSha !== testedTreeSha)
      problems.push(`${sha.slice(0, 12)} landed tree ${landedTreeSha}, tested ${testedTreeSha}`);
    const isLast = members.at(-1)?.landedSha === sha;
    if (isLast && (await git(work, 'rev-parse', `${sha}^{tree}`)) !== landedTreeSha)
      problems.push(`${sha.slice(0, 12)} has another tree than its attestation says`);
  }
  // CI looks at the branch once more after the last landing.
  const tip = commits[0];
  if (tip !== undefined)
    await until(
      'CI on the tip of the branch',
      async () => {
        const found = (await place.listStatuses(tip)).find(({ name }) => name === host.requiredCheck);
        if (found?.state === 'failure' || found?.state === 'error')
          problems.push(`CI says ${found.state} of the tip`);
        return found === undefined || found.state === 'pending' ? null : true;
      },
      { everyMs: 1_000 },
    ).catch((error: unknown) => problems.push(String(error)));
  return commits.length;
}

async function checkLeftovers(
  work: string,
  place: E2ePlace,
  opened: readonly Change[],
  landed: readonly number[],
  problems: string[],
): Promise<void> {
  const left = await git(work, 'ls-remote', 'origin', 'refs/heads/signalbox/*');
  if (left !== '') problems.push(`test branches are left: ${left}`);
  const stillOpen = (await place.listOpen()).toSorted((a, b) => a - b);
  const wanted = opened.map(({ number }) => number).filter((number) => !landed.includes(number));
  if (stillOpen.join() !== wanted.join())
    problems.push(`open are #${stillOpen.join(', #')}, not #${wanted.join(', #')}`);
}
