// Every type of rule that GitHub's rulesets have, in a ruleset that the App may bypass: GitHub would let any push of ours
// through, so it is for Signalbox to hold the rule, or not to push. What it does about each type is in the table of
// host/github/rule/rule-type.ts, and this file takes the types from there: a type without a situation is a broken row.

import { ruleTypes } from '#host/github/rule/rule-type.ts';
import type { Rule } from '../../github-server/model.ts';
import { Broken, type Situation } from './model.ts';
import type { Scene } from './scene.ts';
import { landed, lands } from './step.ts';

const pattern = { operator: 'contains', pattern: 'e', negate: false };
const check = {
  required_status_checks: [{ context: 'ci/extra' }],
  strict_required_status_checks_policy: false,
};
const reviews = {
  required_approving_review_count: 1,
  dismiss_stale_reviews_on_push: false,
  require_code_owner_review: false,
  require_last_push_approval: false,
  required_review_thread_resolution: false,
};
const scanner = { tool: 'CodeQL', alerts_threshold: 'errors', security_alerts_threshold: 'high_or_higher' };

/** What each type is given; a type that is not here takes nothing. */
const parameters: Readonly<Record<string, Rule['parameters']>> = {
  branch_name_pattern: pattern,
  code_scanning: { code_scanning_tools: [scanner] },
  commit_author_email_pattern: pattern,
  commit_message_pattern: pattern,
  committer_email_pattern: pattern,
  copilot_code_review: { review_on_push: false, review_draft_pull_requests: false },
  file_extension_restriction: { restricted_file_extensions: ['*.pem'] },
  file_path_restriction: { restricted_file_paths: ['secret/**'] },
  max_file_path_length: { max_file_path_length: 200 },
  max_file_size: { max_file_size: 10 },
  merge_queue: {
    check_response_timeout_minutes: 60,
    grouping_strategy: 'ALLGREEN',
    max_entries_to_build: 5,
    max_entries_to_merge: 5,
    merge_method: 'MERGE',
    min_entries_to_merge: 1,
    min_entries_to_merge_wait_minutes: 5,
  },
  pull_request: reviews,
  required_deployments: { required_deployment_environments: ['staging'] },
  required_status_checks: check,
  tag_name_pattern: pattern,
  update: { update_allows_fetch_and_merge: false },
  workflows: { workflows: [{ repository_id: 1, path: '.github/workflows/required.yml' }] },
};

const settings = { mergeMethod: 'merge_commit', landingMode: 'fast_forward' };

function addRule({ host }: Scene, type: string): number {
  const { server, fullName } = host.github!;
  const given = parameters[type];
  const rule: Rule = given === undefined ? { type } : { type, parameters: given };
  return server.addRuleset(fullName, { rules: [rule], bypassApps: [server.appId] });
}

/** A pull request that is green in every way that the branch knew before the rule. */
async function tryLanding(scene: Scene, type: string): Promise<number> {
  addRule(scene, type);
  const number = await scene.submit();
  await scene.api.call('getQueue', scene.main);
  if ((await scene.state(number)) === 'testing') await scene.ci(number, 'success', 'ci/test');
  await scene.pass(1);
  return number;
}

async function isHeld(scene: Scene, type: string): Promise<string> {
  return stopsAt(scene, await tryLanding(scene, type), type);
}

async function stopsAt(scene: Scene, number: number, type: string): Promise<string> {
  scene.must((await scene.host.shown(number)) !== 'merged', `it landed past ${type}`);
  const { state, stateReason } = await scene.api.call('getQueue', scene.main);
  const reason = stateReason ?? '';
  scene.must(state === 'PAUSED', `it is ${await scene.state(number)}, and the queue says nothing of it`);
  scene.must(reason.includes(type), `the queue does not name the rule: ${reason}`);
  return `the queue is ${state}: ${reason}`;
}

const reimplemented: Readonly<Record<string, (scene: Scene) => Promise<string>>> = {
  required_status_checks: async (scene) => {
    const number = await tryLanding(scene, 'required_status_checks');
    scene.must((await scene.host.shown(number)) !== 'merged', 'it landed without the check');
    await scene.ci(number, 'success', 'ci/extra');
    return `${await landed(scene, number)} with the check of the ruleset`;
  },
  pull_request: async (scene) => {
    const number = await tryLanding(scene, 'pull_request');
    const seen = await scene.state(number);
    scene.must((await scene.host.shown(number)) !== 'merged', 'it landed without an approval');
    await scene.host.review('ada', number, 'approved');
    await scene.settle();
    await lands(scene, number);
    return `it was ${seen} until it was approved, and landed then`;
  },
  required_linear_history: (scene) => isHeld(scene, 'required_linear_history'),
};

/** One pull request meets one rule after the other, and lands when none is left. */
async function meetEach(scene: Scene, types: readonly string[]): Promise<string> {
  const { server, fullName } = scene.host.github!;
  const resume = async () => {
    await scene.api.call('updateQueue', { ...scene.main, state: 'RUNNING' });
    await scene.settle();
    await scene.pass(1);
  };
  let ruleset = addRule(scene, types[0]!);
  const number = await scene.submit();
  if ((await scene.state(number)) === 'testing') await scene.ci(number, 'success', 'ci/test');
  await scene.pass(1);
  await stopsAt(scene, number, types[0]!);
  for (const type of types.slice(1)) {
    const next = addRule(scene, type);
    server.removeRuleset(fullName, ruleset);
    ruleset = next;
    await resume();
    await stopsAt(scene, number, type);
  }
  server.removeRuleset(fullName, ruleset);
  await resume();
  await landed(scene, number);
  return `the queue stopped at each of ${types.join(', ')}, and the pull request landed when none was left`;
}

const runOf = (type: string): Situation['run'] =>
  reimplemented[type] ?? (() => Promise.reject(new Broken(`no situation shows how ${type} is held`)));

const musts: Readonly<Record<string, string>> = {
  refused: 'nothing is pushed, and the queue stops with a reason that names the rule',
  're-implemented': 'the rule is held as GitHub would hold it',
};

const notInEnterprise: ReadonlySet<string> = new Set(['license_compliance_scanning']);
const notDescribed =
  'the published description of the Enterprise Server that these situations run on does not have this type';

const described = Object.entries(ruleTypes).filter(([type]) => !notInEnterprise.has(type));
const typesThatAre = (wanted: string): readonly string[] =>
  described.filter(([, { handling }]) => handling === wanted).map(([type]) => type);
const refusedTypes = typesThatAre('refused');
const harmlessTypes = typesThatAre('harmless');
const listed = (types: readonly string[]): string => types.map((type) => `\`${type}\``).join(', ');

/** So many in one situation that none takes much longer than the others. */
const typesAtOnce = 5;

const refused: readonly Situation[] = refusedTypes.flatMap((_, at) => {
  if (at % typesAtOnce !== 0) return [];
  const types = refusedTypes.slice(at, at + typesAtOnce);
  return {
    name: `the App may bypass rulesets with ${listed(types)} (refused)`,
    must: `with each of them ${musts['refused']!}`,
    hosts: ['github'],
    set: { settings },
    run: (scene) => meetEach(scene, types),
  };
});

const harmless: Situation = {
  name: `the App may bypass rulesets with ${listed(harmlessTypes)} (harmless)`,
  must: 'it lands: none of these rules has a say in a landing',
  hosts: ['github'],
  set: { settings },
  run: async (scene) => {
    const [last, ...others] = harmlessTypes;
    for (const type of others) addRule(scene, type);
    return landed(scene, await tryLanding(scene, last!));
  },
};

export const ruleTypeSituations: readonly Situation[] = [
  ...refused,
  harmless,
  ...Object.entries(ruleTypes)
    .filter(([type]) => !refusedTypes.includes(type) && !harmlessTypes.includes(type))
    .map(([type, { handling }]): Situation => ({
      name: `the App may bypass a ruleset with \`${type}\` (${handling})`,
      must: musts[handling]!,
      ...(notInEnterprise.has(type)
        ? { hosts: [], cannot: { github: notDescribed } }
        : { hosts: ['github'] }),
      set: { settings },
      run: runOf(type),
    })),
];
