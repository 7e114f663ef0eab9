// Code of a fork, and changes of the configuration of CI, are run with the secrets of the repository: only after a person
// with write access has approved exactly that commit.

import type { HostKind, Situation } from './model.ts';
import { lands } from './step.ts';
import type { Scene } from './scene.ts';

const hosts: readonly HostKind[] = ['github', 'gitea'];

/** No test branch has the change: CI has not seen it. */
async function isUntested(scene: Scene, number: number): Promise<string> {
  await scene.settle();
  await scene.pass(1);
  const seen = await scene.state(number);
  scene.must(seen === 'not_ready' || seen === 'none', `it is ${seen}`);
  scene.must((await scene.runs()).length === 0, 'a run tests it');
  return `it is ${seen === 'none' ? 'not submitted' : 'not ready'}`;
}

async function submitTolerantly(scene: Scene, number: number): Promise<void> {
  await scene.api.ask('submitPullRequest', scene.numbered(number));
  await scene.settle();
}

const workflowOf = (kind: HostKind): string =>
  kind === 'gitea' ? '.gitea/workflows/ci.yaml' : '.github/workflows/ci.yml';

const protectedFiles: readonly { readonly name: string; readonly path: (kind: HostKind) => string }[] = [
  { name: 'a workflow of CI', path: workflowOf },
  { name: '`.signalbox.yaml`', path: () => '.signalbox.yaml' },
];

const text = 'merge:\n  required_statuses: [ci/test]\n';

const paths: readonly Situation[] = protectedFiles.map(({ name, path }) => ({
  name: `a pull request changes ${name}`,
  must: 'it is not tested before a person with write access approved exactly its head; then it lands',
  hosts,
  run: async (scene) => {
    const number = await scene.open({ files: { [path(scene.host.kind)]: text } });
    await submitTolerantly(scene, number);
    await isUntested(scene, number);
    await scene.host.review('ada', number, 'approved');
    await scene.settle();
    await submitTolerantly(scene, number);
    return lands(scene, number);
  },
}));

export const forkSituations: readonly Situation[] = [
  ...paths,
  {
    name: 'a fork, and nobody has approved its head',
    must: 'its code is not pushed to a test branch',
    hosts,
    run: async (scene) => {
      const number = await scene.openBad({ by: 'mallory', fork: true });
      await submitTolerantly(scene, number);
      return isUntested(scene, number);
    },
  },
  {
    name: 'a fork, approved by a person with write access',
    must: 'it is tested, and lands when CI is green',
    hosts,
    run: async (scene) => {
      const number = await scene.open({ by: 'mallory', fork: true });
      await scene.host.review('ada', number, 'approved');
      await scene.settle();
      await submitTolerantly(scene, number);
      return lands(scene, number);
    },
  },
  {
    name: 'a fork, approved by a person without write access',
    must: 'its code is not pushed to a test branch',
    hosts,
    run: async (scene) => {
      await scene.grant('grace', 'read');
      const number = await scene.openBad({ by: 'mallory', fork: true });
      await scene.host.review('grace', number, 'approved');
      await scene.settle();
      await submitTolerantly(scene, number);
      return isUntested(scene, number);
    },
  },
  {
    name: 'a fork that is pushed to after it was approved',
    must: 'the new head needs an approval of its own',
    hosts,
    run: async (scene) => {
      const number = await scene.openBad({ by: 'mallory', fork: true });
      await scene.host.review('ada', number, 'approved');
      await scene.later();
      await scene.push(number, { 'late.txt': 'late\n' });
      await scene.settle();
      await submitTolerantly(scene, number);
      return isUntested(scene, number);
    },
  },
  {
    name: 'a fork, approved, while the queue has `forks: refuse`',
    must: 'its code is not pushed to a test branch',
    hosts,
    set: { settings: { forks: 'refuse' } },
    run: async (scene) => {
      const number = await scene.openBad({ by: 'mallory', fork: true });
      await scene.host.review('ada', number, 'approved');
      await scene.settle();
      await submitTolerantly(scene, number);
      return isUntested(scene, number);
    },
  },
  {
    name: 'a fork, while the queue has `forks: allow`',
    must: 'it is tested without an approval, and lands when CI is green',
    hosts,
    set: { settings: { forks: 'allow' } },
    run: async (scene) => {
      const number = await scene.open({ by: 'mallory', fork: true });
      await submitTolerantly(scene, number);
      return lands(scene, number);
    },
  },
  {
    name: 'a fork changes a workflow, while the queue has `forks: allow`',
    must: 'the workflow still needs an approval of exactly that head',
    hosts,
    set: { settings: { forks: 'allow' } },
    run: async (scene) => {
      const files = { [workflowOf(scene.host.kind)]: 'name: ci\n' };
      const number = await scene.openBad({ by: 'mallory', fork: true, files });
      await submitTolerantly(scene, number);
      return isUntested(scene, number);
    },
  },
];
