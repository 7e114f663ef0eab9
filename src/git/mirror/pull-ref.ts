// References that the mirror keeps for pull requests. Once a pull request has left its queues, its references
// keep objects that are not needed, and every fetch offers all of them to the remote.

import { otherRef, pullRef, trialMergeRef } from '../ref.ts';
import { type GitSettings, runGit } from '../run.ts';

const name = /^refs\/signalbox\/(?:pull\/(\d+)|other\/refs%2Fpull%2F(\d+)%2Fmerge)$/;

export async function pullNumbers(settings: GitSettings): Promise<readonly number[]> {
  const args = ['for-each-ref', '--format=%(refname)', 'refs/signalbox/pull/', 'refs/signalbox/other/'];
  const { stdout } = await runGit(settings, { args });
  const numbers = stdout
    .toString('utf8')
    .split('\n')
    .flatMap((ref) => {
      const [, pull, merge] = name.exec(ref) ?? [];
      return pull === undefined && merge === undefined ? [] : [Number(pull ?? merge)];
    });
  return [...new Set(numbers)];
}

export async function dropPulls(settings: GitSettings, numbers: readonly number[]): Promise<void> {
  if (numbers.length === 0) return;
  const refs = numbers.flatMap((number) => [pullRef(number), otherRef(trialMergeRef(number))]);
  const input = refs.map((ref) => `delete ${ref}\n`).join('');
  await runGit(settings, { args: ['update-ref', '--stdin'], input });
}
