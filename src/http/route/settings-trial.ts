// Settings of test health, tried before they are saved.

import { emptyTrial, type TrialResult, type TrialTest, trySettings } from '#command/try-settings.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { settingsFromWire } from '#contract/health/health-settings.ts';
import { triedTestsMax } from '#contract/health/settings-trial.ts';
import { trialDays, type TrialKind, trialKinds } from '#core/health/trial/trial-kind.ts';
import type { RepositoryName } from '#core/repository.ts';
import { findHealthSettings } from '#db/health/health-settings-store.ts';
import { findTestNames, type TestNameRow } from '#db/health/test-view.ts';
import { testPageUrl } from '#event/present-test.ts';
import { type Context, type Handlers, knownRepository, requireOrganization } from '../endpoint/context.ts';

type TrialAnswer = ResponseOf<'tryHealthSettings'>;

export const settingsTrialHandlers: Handlers<'tryHealthSettings'> = {
  tryHealthSettings: async (context, input) => {
    requireOrganization(context, input.org_url_slug);
    const repository = knownRepository(context, input.repo);
    const { cell, now } = context;
    const requested = settingsFromWire(input.settings);
    if (repository === null) return present(context, input.repo, emptyTrial(now), new Map(), []);
    const saved = await findHealthSettings(cell.reader, repository.id);
    const trial = await trySettings(cell.reader, repository.id, requested, now);
    const listed = Object.values(trial.differences).flatMap(({ more, fewer }) =>
      [more, fewer].flatMap((list) => list.slice(0, triedTestsMax).map(({ testCaseId }) => testCaseId)),
    );
    const names = await findTestNames(cell.reader, repository.id, [...new Set(listed)]);
    const { defaultBranches } = requested;
    const isTried =
      defaultBranches === undefined ||
      JSON.stringify(defaultBranches) === JSON.stringify(saved.defaultBranches);
    return present(context, input.repo, trial, names, isTried ? [] : ['default_branches']);
  },
};

function present(
  { deps }: Context,
  repo: RepositoryName,
  { since, tests, isCut, changesOnSave, differences }: TrialResult,
  names: ReadonlyMap<string, TestNameRow>,
  notTried: string[],
): TrialAnswer {
  const presentList = (list: readonly TrialTest[]) =>
    list.slice(0, triedTestsMax).flatMap((test) => {
      const name = names.get(test.testCaseId);
      return name === undefined ? [] : [presentTried(deps.config.publicUrl, repo, test, name)];
    });
  const presented = trialKinds.map((kind) => {
    const { saved, tried, more, fewer } = differences[kind];
    const counts = { saved, tried, more: more.length, fewer: fewer.length };
    return [kind, { ...counts, tests_more: presentList(more), tests_fewer: presentList(fewer) }] as const;
  });
  return {
    days: trialDays,
    since: since.toISOString(),
    tests,
    is_cut: isCut,
    changes_on_save: changesOnSave,
    not_tried: notTried,
    ...(Object.fromEntries(presented) as Pick<TrialAnswer, TrialKind>),
  };
}

const presentTried = (
  publicUrl: string,
  repo: RepositoryName,
  { at, reason, current, ifSaved }: TrialTest,
  { id, name, variant, file_path }: TestNameRow,
) => ({
  id,
  html_url: testPageUrl(publicUrl, repo, id),
  name,
  variant,
  ...(file_path === null ? {} : { file_path }),
  at: at.toISOString(),
  reason,
  current: { status: current.status, quarantined: current.isQuarantined },
  if_saved: { status: ifSaved.status, quarantined: ifSaved.isQuarantined },
});
