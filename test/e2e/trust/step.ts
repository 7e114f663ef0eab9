// Steps that many situations share.

import type { Scene } from './scene.ts';

/** CI is green on the newest run of a pull request, and it lands. */
export async function lands(scene: Scene, number: number): Promise<string> {
  await scene.ci(number, 'success');
  return landed(scene, number);
}

/** A pull request has landed, at the host as well. */
export async function landed(scene: Scene, number: number): Promise<string> {
  const seen = await scene.reach(number, 'merged', 'failed', 'cancelled');
  scene.must(seen === 'merged', `it is ${seen}: ${await scene.reasons(number)}`);
  return 'it landed';
}

/** Whatever happens from now on, a pull request does not land. */
export async function staysOut(scene: Scene, number: number): Promise<string> {
  await scene.settle();
  await scene.pass(1);
  const seen = await scene.state(number);
  scene.must(seen !== 'merged', 'it landed');
  scene.must((await scene.host.shown(number)) !== 'merged', 'the host shows it as merged');
  const reason = (await scene.see(number))?.conclusionReason ?? null;
  return `it is ${seen}${reason === null ? '' : ` (${reason})`}`;
}

/** A pull request was never submitted. */
export async function staysUnsubmitted(scene: Scene, number: number): Promise<string> {
  await scene.settle();
  await scene.pollComments();
  const seen = await scene.state(number);
  scene.must(seen === 'none', `it was submitted, and is ${seen}`);
  return 'it was not submitted';
}

/** Signalbox says something on a pull request. */
export async function says(scene: Scene, number: number, wanted: RegExp): Promise<void> {
  let said = '';
  await scene.until(async () => wanted.test((said = await scene.readAnswers(number))));
  scene.must(wanted.test(said), `${String(wanted)} is not said; what is said: ${said}`);
}
