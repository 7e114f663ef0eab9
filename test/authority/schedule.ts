// A small world for schedules of pushes, closes, labels, comments, polls and restarts: a model of a Git host, with lost,
// late and doubled webhooks, and Signalbox as it decides. What decides is the code that production runs: checkAct and
// resolveHeadSince (core/queue/rule/authority.ts), decide and evolve. What is modelled is what they are given: which acts the host
// records, which heads we have recorded, and when a job runs.
//
// The world checks itself: whenever a head is submitted, the host's record must hold an act by somebody with write access
// that is later than the head, or that names it.

import type { EntryId, QueueId } from '#base/id.ts';
import { type Act, resolveHeadSince, checkAct, type KnownHead } from '#core/queue/rule/authority.ts';
import { decide } from '#core/queue/decide.ts';
import { evolve } from '#core/queue/evolve.ts';
import { type Entry, isEnded, type PullRequest, type Queue } from '#core/queue/model.ts';
import { defaultSettings } from '#core/queue/settings.ts';

const writers: ReadonlySet<string> = new Set(['ada', 'grace']);
const people = ['ada', 'grace', 'mallory'] as const;

const queue: Queue = {
  id: 'q' as QueueId,
  targetBranch: 'main',
  state: 'RUNNING',
  settings: defaultSettings,
  switching: null,
  stateReason: null,
};

type Chance = { readonly below: (max: number) => number; readonly odds: (percent: number) => boolean };

/** What the host knows, by its own clock. */
type HostModel = {
  now: number;
  heads: { sha: string; since: number }[];
  state: PullRequest['state'];
  label: { isOn: boolean; by: string; at: number } | null;
  acts: { by: string; at: number; namedSha: string | null }[];
};

type Job =
  | { readonly kind: 'comment'; readonly by: string; readonly at: number; readonly namedSha: string | null }
  | { readonly kind: 'label' }
  | { readonly kind: 'observe' };

/** What Signalbox keeps: all of it in the database, so a restart takes only the jobs under way. */
type OwnModel = {
  entry: Entry | null;
  known: KnownHead[];
  usedAt: number | null;
  jobs: Job[];
};

export type Schedule = { readonly submissions: number; readonly violation: string | null };

export function runSchedule(chance: Chance, steps: number, check: typeof checkAct = checkAct): Schedule {
  const host: HostModel = {
    now: 1_000_000,
    heads: [{ sha: shaOf(1), since: 0 }],
    state: 'open',
    label: null,
    acts: [],
  };
  const own: OwnModel = { entry: null, known: [], usedAt: null, jobs: [] };
  const log: string[] = [];
  let submissions = 0;
  for (let step = 0; step < steps; step += 1) {
    host.now += 1 + chance.below(chance.odds(20) ? 40_000 : 900);
    log.push(`${host.now} ${happen(chance, host, own)}`);
    const isRun = chance.odds(60);
    const job = isRun ? own.jobs.splice(chance.below(Math.max(own.jobs.length, 1)), 1)[0] : undefined;
    if (job === undefined) continue;
    const submitted = perform(host, own, job, check, chance);
    log.push(`${host.now} job ${job.kind} ${submitted ?? ''}`);
    if (submitted === null) continue;
    submissions += 1;
    const { since } = host.heads.find(({ sha }) => sha === submitted)!;
    const isMeant = host.acts.some(
      ({ by, at, namedSha }) =>
        writers.has(by) && (at > since || (namedSha !== null && submitted.startsWith(namedSha))),
    );
    if (!isMeant) return { submissions, violation: log.join('\n') };
  }
  return { submissions, violation: null };
}

const shaOf = (count: number): string => count.toString(16).padStart(8, '0').repeat(5);

/** Something happens at the host, and its webhooks are delivered, lost, late or doubled. */
function happen(chance: Chance, host: HostModel, own: OwnModel): string {
  const by = people[chance.below(people.length)]!;
  const head = host.heads.at(-1)!;
  const deliver = (job: Job, alsoRecord: () => void = () => undefined) => {
    if (chance.odds(25)) return;
    alsoRecord();
    own.jobs.push(job);
    if (chance.odds(15)) own.jobs.push(job);
  };
  const kind = chance.below(100);
  if (kind < 25) {
    const pushed = { sha: shaOf(host.heads.length + 1), since: host.now };
    host.heads.push(pushed);
    // One host names the instant of the push in its webhook, another only the head.
    const since = chance.odds(50) ? pushed.since : null;
    deliver({ kind: 'observe' }, () => own.known.push({ sha: pushed.sha, since }));
    return `push ${pushed.sha}`;
  }
  if (kind < 45) {
    const isOn = host.label?.isOn !== true;
    host.label = { isOn, by, at: host.now };
    if (isOn) host.acts.push({ by, at: host.now, namedSha: null });
    deliver({ kind: 'label' });
    return `label ${isOn ? 'on' : 'off'} by ${by}`;
  }
  if (kind < 65) {
    const namedSha = chance.odds(30) ? host.heads[chance.below(host.heads.length)]!.sha.slice(0, 8) : null;
    const act = { by, at: host.now, namedSha };
    host.acts.push(act);
    deliver({ kind: 'comment', ...act });
    return `comment by ${by} ${namedSha ?? ''}`;
  }
  if (kind < 75) {
    host.state = host.state === 'open' ? 'closed' : 'open';
    deliver({ kind: 'observe' });
    return host.state;
  }
  if (kind < 90) {
    // A poll: the head of the moment, and the label if it is on.
    own.jobs.push({ kind: 'observe' }, { kind: 'label' });
    return 'poll';
  }
  if (kind < 95) {
    own.jobs.length = 0;
    return 'restart';
  }
  if (own.entry !== null && !isEnded(own.entry.stage)) {
    const reason = 'TEST_RUN_REQUIRED_STATUS_FAILED';
    const to = { kind: 'failed', reason, runId: null } as const;
    const fact = { kind: 'moved', to, reason, at: new Date(host.now), actor: 'queue' } as const;
    own.entry = evolve(own.entry, fact, own.entry.id);
  }
  return `nothing, or the tests of ${head.sha} failed`;
}

/** Runs a job as the worker does; the head that it submitted, or null. */
function perform(
  host: HostModel,
  own: OwnModel,
  job: Job,
  check: typeof checkAct,
  chance: Chance,
): string | null {
  const { sha: headSha, since } = host.heads.at(-1)!;
  const pullRequest = pullRequestOf(headSha, host.state);
  if (job.kind === 'observe') {
    apply(own, { kind: 'observe', pullRequest }, host.now);
    return null;
  }
  const isQueued = own.entry !== null && !isEnded(own.entry.stage);
  const label = host.label;
  if (job.kind === 'label' && (label === null || label.isOn === isQueued)) return null;
  const act: Act =
    job.kind === 'label'
      ? { kind: 'label', by: label!.by, mayWrite: writers.has(label!.by), at: label!.at, namedSha: null }
      : { ...job, mayWrite: writers.has(job.by) };
  if (job.kind === 'label' && !label!.isOn) {
    if (act.mayWrite) apply(own, { kind: 'cancel', reason: 'USER_REQUESTED', actor: act.by! }, host.now);
    return null;
  }
  // The host's record of pushes may be unreadable, or lag behind a push that a webhook has told us of.
  const lags = own.known.length > 0 && chance.odds(10);
  const answered = chance.odds(20) ? null : lags ? 0 : since;
  const endedAt = own.entry !== null && !isQueued ? own.entry.stageChangedAt.getTime() : null;
  const headSince = resolveHeadSince(headSha, own.known, answered);
  if (check(act, { headSha, headSince, endedAt, usedAt: own.usedAt }) !== 'allowed') return null;
  const before = own.entry;
  const wish = { priority: null, noBatch: false, force: false, seniority: 1, actor: act.by! };
  apply(own, { kind: 'submit', pullRequest, ...wish }, host.now);
  if (act.kind === 'label' && own.entry !== before) own.usedAt = act.at;
  const isNew = own.entry !== null && own.entry !== before && own.entry.attempt !== before?.attempt;
  return isNew ? own.entry!.pullRequest.headSha : null;
}

function apply(own: OwnModel, command: Parameters<typeof decide>[1], now: number): void {
  const decision = decide({ queue, entry: own.entry }, command, new Date(now));
  if (decision.kind === 'rejected') return;
  for (const fact of decision.facts) own.entry = evolve(own.entry, fact, 'e' as EntryId);
}

const pullRequestOf = (headSha: string, state: PullRequest['state']): PullRequest => ({
  number: 7,
  title: 'Change',
  body: '',
  headSha,
  baseBranch: 'main',
  author: 'mallory',
  fork: null,
  url: 'https://git.example/acme/widgets/pulls/7',
  mergeability: 'mergeable',
  draft: false,
  state,
});
