// The canonical key of a snapshot: two snapshots with the same key have the same future. Groups, searches and runs are
// numbered by where they stand, the tip is "on" or "off", and times are relative to now.
import { ageingMs } from '#core/queue/planner/order.ts';
import type { Item, Run, Snapshot } from '#core/queue/planner/model.ts';

const placeOf = ({ place }: Item, now: number): string => {
  switch (place.kind) {
    case 'not_ready':
      return 'n';
    case 'pending':
      return `p${place.restarting ? 'r' : now - place.since}${place.alone ? 'a' : ''}${place.behind ?? ''}`;
    case 'line':
      return place.shown[0]! + place.shown[6]!;
    case 'search':
      return 's';
  }
};

const runKey = (run: Run, tip: string, now: number): string => {
  const { composition, status, attempt, drifted, overtaken } = run;
  const clock =
    status === 'starting'
      ? now - run.requestedAt
      : status === 'running'
        ? now - run.startedAt!
        : Math.max(-1, run.notBefore - now);
  const settled = status === 'passed' || status === 'failed';
  return `${composition.members.join()}/${composition.tested}${composition.base === tip ? '' : 'o'}${status[0]}${status[2]}${settled ? '' : `${attempt}:${clock}`}${drifted ? 'd' : ''}${overtaken ? 'v' : ''}`;
};

export function keyOf(snapshot: Snapshot, now: number): string {
  const { items, line, searches, runs, landing, tip, state, switching, gone, settings } = snapshot;
  let key = `${state}${switching?.mode ?? ''}${switching?.returnTo ?? ''}${settings.mode}${settings.canOptimisticallyMerge ? '+' : ''}${snapshot.frozenAt === null ? '' : 'z'}`;
  // Items are a map by number: which of two was put there first makes no difference to a plan.
  for (const pr of [...items.keys()].toSorted((a, b) => a - b)) {
    const item = items.get(pr)!;
    const aged = now - item.submittedAt >= ageingMs ? 'A' : '';
    key += `|${pr}:${item.priority}${item.ready ? '' : 'u'}${aged}${item.endRequested === null ? '' : 'e'}${item.testedOnTip === tip ? 't' : ''}${item.targets === 'ALL' ? '*' : `[${item.targets.join()}]`}${placeOf(item, now)}`;
  }
  const byOwner = new Map<string, Run[]>();
  for (const run of runs.values()) {
    const owner = run.of.kind === 'line' ? `g${run.of.group}` : `s${run.of.search}`;
    const list = byOwner.get(owner);
    if (list === undefined) byOwner.set(owner, [run]);
    else list.push(run);
  }
  for (const group of line) {
    key += `;${group.members.join()}`;
    for (const run of byOwner.get(`g${group.id}`) ?? []) key += `(${runKey(run, tip, now)})`;
  }
  for (const search of searches) {
    const { base, members, passes, fails, failedRun } = search;
    key += `!${members.join()}${base === tip ? '' : 'o'}${passes}<${fails}${failedRun === null ? '?' : ''}`;
    const own = (byOwner.get(`s${search.id}`) ?? []).map((run) => runKey(run, base, now));
    key += `(${own.toSorted().join()})`;
  }
  if (landing !== null) key += `>${landing.members.join()}${landing.proof.kind}`;
  // How somebody left is only a reason that is told.
  if (gone.size > 0) key += `~${[...gone.keys()].toSorted((a, b) => a - b).join()}`;
  return key;
}

/** 53 bits of the key: two FNV-1a hashes with different beginnings. */
export function hashOf(key: string): number {
  let low = 0x811c9dc5;
  let high = 0x01234567;
  for (let at = 0; at < key.length; at++) {
    const code = key.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x01000193) ^ (high >>> 15);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
