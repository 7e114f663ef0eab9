// What is measured for every situation, whatever it claims of itself:
//
// - untested commits landed: each commit that Signalbox put on `main` must have the tree of a test commit, or of a member
//   of the batch that the test commit ends, and the host's own record must have every check that the branch requires at
//   that moment green on that test commit, from the right source. Git and the host are asked, Signalbox is not.
// - decisions by people who may not: each submission, cancellation and force in the timelines needs a named person who
//   may do it at the host, or a token of the API.
// - innocent removed: an entry that ended as `failed` although the situation calls the change good.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import {
  type HostControl,
  mayWrite,
  type Permission,
  type Recorded,
  type RequiredCheck,
  type Rules,
  type SceneOptions,
} from './model.ts';

type Entry = ResponseOf<'getSubmittedPullRequest'>;

export type Measured = {
  readonly untested: readonly string[];
  readonly decisions: readonly string[];
  readonly removed: readonly string[];
};

export type Audit = {
  readonly begin: () => Promise<void>;
  /** Compares what has landed since the last call with the rules that are in force now. */
  readonly branch: () => Promise<void>;
  readonly rules: (rules: Rules | null) => void;
  readonly required: () => readonly RequiredCheck[];
  readonly person: (person: string, permission: Permission) => void;
  /** A commit on `main` that somebody else made. */
  readonly foreign: (sha: string) => void;
  readonly pullRequest: (number: number, isGood: boolean) => void;
  /** The head of a pull request: what CI says of it is about the pull request alone. */
  readonly head: (sha: string) => void;
  readonly end: (see: (number: number) => Promise<Entry | null>) => Promise<Measured>;
  /** Commits that Signalbox has landed so far. */
  readonly landed: () => number;
};

const run = promisify(execFile);
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

export async function gitIn(directory: string, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  const safe = ['-c', 'safe.directory=*', '-C', directory];
  return (await run('git', [...safe, ...args], { env, maxBuffer: 64 * 1_048_576 })).stdout.trim();
}

export function openAudit(host: HostControl, options: SceneOptions): Audit {
  const skippable = new Set(options.skippable ?? []);
  const people = new Map<string, Permission>();
  const good = new Map<number, boolean>();
  const foreign = new Set<string>();
  const heads = new Set<string>();
  const untested: string[] = [];
  const git = (...args: readonly string[]) => gitIn(host.directory, ...args);
  // Asked after every step: where the ref is a file of its own, git need not be started for it.
  const tipOf = () =>
    readFile(join(host.directory, 'refs/heads/main'), 'utf8').then(
      (text) => text.trim(),
      () => git('rev-parse', 'refs/heads/main'),
    );
  const isDirect = JSON.stringify(options.settings ?? {}).includes('directMergeMode');
  let rules: Rules | null = null;
  let begin = '';
  let last = '';
  let landed = 0;
  const required = () => rules?.checks ?? [];

  const isGreen = async (sha: string): Promise<boolean> => {
    const recorded = await host.recorded(sha);
    return required().every((check) => isSatisfied(check, recorded, skippable));
  };
  /** Commits whose line of first parents has a tree, since the situation began. */
  const holdersOf = async (tree: string): Promise<string[]> => {
    const objects = await git('cat-file', '--batch-all-objects', '--batch-check=%(objecttype) %(objectname)');
    const shas = linesOf(objects).flatMap((line) => {
      const [type, sha] = line.split(' ');
      return type === 'commit' ? [sha!] : [];
    });
    const listed = linesOf(await git('log', '--no-walk=unsorted', '--format=%H %T %P', ...shas));
    const commits = new Map(
      listed.map((line) => {
        const [sha, own, parent] = line.split(' ');
        return [sha!, { tree: own!, parent }];
      }),
    );
    const hasTree = (sha: string): boolean => {
      for (let at: string | undefined = sha; at !== undefined && at !== begin; at = commits.get(at)?.parent)
        if (commits.get(at)?.tree === tree) return true;
      return false;
    };
    return shas.filter((sha) => (isDirect || !heads.has(sha)) && hasTree(sha));
  };
  const isTested = async (tree: string): Promise<boolean> => {
    if (required().length === 0) return rules !== null;
    for (const sha of await holdersOf(tree)) if (await isGreen(sha)) return true;
    return false;
  };

  return {
    begin: async () => {
      begin = last = await tipOf();
    },
    branch: async () => {
      if (last === '') return;
      const tip = await tipOf().catch(() => last);
      if (tip === last) return;
      const news = linesOf(
        await git('log', '--first-parent', '--reverse', '--format=%H %T', tip, `^${last}`),
      );
      last = tip;
      for (const line of news) {
        const [sha = '', tree = ''] = line.split(' ');
        if (foreign.has(sha)) continue;
        landed += 1;
        if (!(await isTested(tree)))
          untested.push(`${sha.slice(0, 12)} landed, and no green test commit has its tree`);
      }
    },
    rules: (changed) => void (rules = changed),
    required,
    person: (person, permission) => void people.set(person, permission),
    foreign: (sha) => void foreign.add(sha),
    pullRequest: (number, isGood) => void good.set(number, isGood),
    head: (sha) => void heads.add(sha),
    landed: () => landed,
    end: async (see) => {
      const decisions: string[] = [];
      const removed: string[] = [];
      for (const [number, isGood] of good) {
        const entry = await see(number);
        if (entry === null) continue;
        decisions.push(...wrongDecisions(entry, people));
        if (isGood && entry.state === 'failed')
          removed.push(`#${number} ended as failed: ${entry.conclusionReason}`);
      }
      return { untested, decisions, removed };
    },
  };
}

/** With several results of one name and source the last one counts. */
function isSatisfied(
  { name, source = 'ci' }: RequiredCheck,
  recorded: readonly Recorded[],
  skippable: ReadonlySet<string>,
): boolean {
  const wanted = source === 'status' ? 'status' : 'ci';
  const result = recorded.findLast((one) => one.name === name && one.source === wanted);
  if (result === undefined) return false;
  const { conclusion } = result;
  return (
    conclusion === 'success' || conclusion === 'neutral' || (conclusion === 'skipped' && skippable.has(name))
  );
}

/** The token of the API: its scopes are checked where it is used. */
const isApi = (actor: string): boolean => actor.startsWith('api:');

/** What the queue itself does is nobody's decision. */
const ownActors: ReadonlySet<string> = new Set(['queue', 'host', 'signalbox']);

function wrongDecisions(entry: Entry, people: ReadonlyMap<string, Permission>): string[] {
  const { prNumber, timeline = [], forceEnqueued } = entry;
  const wrong: string[] = [];
  const mayDecide = (actor: string) => isApi(actor) || mayWrite(people.get(actor) ?? 'none');
  const oldestFirst = timeline.toReversed();
  for (const [index, event] of oldestFirst.entries()) {
    const isSubmission = oldestFirst[index - 1]?.trip !== event.trip;
    const isCancel = event.reason === 'USER_REQUESTED';
    if (!isSubmission && !isCancel) continue;
    const { actor } = event;
    if (isSubmission && ownActors.has(actor)) wrong.push(`#${prNumber} was submitted without a named person`);
    else if (!ownActors.has(actor) && !mayDecide(actor))
      wrong.push(`#${prNumber} was ${isCancel ? 'cancelled' : 'submitted'} by ${actor}, who may not`);
    const isAdmin = isApi(actor) || people.get(actor) === 'admin';
    if (isSubmission && forceEnqueued && event.trip === timeline[0]?.trip && !isAdmin)
      wrong.push(`#${prNumber} was forced by ${actor}, who may not`);
  }
  return wrong;
}
