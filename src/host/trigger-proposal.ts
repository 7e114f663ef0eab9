// A pull request that makes the workflows of a queue's required checks run for test branches. Where a file cannot be changed by a
// pull request, a person gets what to change, and where.

import { listUntriggered, testBranchOf } from './doctor-workflow.ts';
import { workflowQuestion } from './doctor.ts';
import type { DoctorInput } from './doctor-input.ts';
import type { Host, HostRepository } from './host.ts';
import type { OpenProposal } from './proposal.ts';
import { addTestBranchTrigger } from './workflow-edit.ts';

export type TriggerProposal = {
  /** Null: no file could be changed by a pull request. */
  readonly pullRequest: OpenProposal | null;
  /** Files that a person has to change. */
  readonly byHand: FileByHand[];
};

type FileByHand = {
  readonly path: string;
  /** Why Signalbox does not change it. */
  readonly reason: string;
  /** The page on which it is edited; null: the host has none. */
  readonly editorUrl: string | null;
  /** What to write there. */
  readonly text: string;
  /** Whether the text is the whole file, or lines to be added to it. */
  readonly isWholeFile: boolean;
};

const title = 'Run CI for the test branches of Signalbox';
const explain = (targetBranch: string): string =>
  `The merge queue for \`${targetBranch}\` tests pull requests on branches \`signalbox/**\`. Its required checks report there only if these workflows run for pushes to them.`;

export async function proposeTriggers(
  host: Host,
  repository: HostRepository,
  queue: DoctorInput['queue'],
): Promise<TriggerProposal> {
  const { targetBranch } = queue;
  const inspection = await host.inspect(repository, targetBranch);
  const workflows = listUntriggered(workflowQuestion(inspection, queue)).map((file) => ({
    file,
    edit: addTestBranchTrigger(file.text, testBranchOf(targetBranch)),
  }));
  const changed = workflows.flatMap(({ file, edit }) =>
    edit.kind === 'edited' ? [{ ...file, text: edit.text }] : [],
  );
  const left = workflows.flatMap(({ file: { path }, edit }) =>
    edit.kind === 'edited' ? [] : [{ path, reason: edit.reason, text: edit.lines, isWholeFile: false }],
  );
  const answer =
    changed.length === 0
      ? null
      : await host.proposeFiles(repository, {
          // Not below signalbox/: those are test branches.
          branch: `signalbox-trigger/${targetBranch}`,
          baseBranch: targetBranch,
          title,
          body: explain(targetBranch),
          files: changed,
        });
  const refused =
    answer?.kind === 'refused'
      ? changed.map(({ path, text }) => ({ path, reason: answer.reason, text, isWholeFile: true }))
      : [];
  const byHand = [...left, ...refused].map(async (file) => ({
    ...file,
    editorUrl: await host.editorUrl(repository, targetBranch, file.path),
  }));
  return {
    pullRequest: answer?.kind === 'open' ? answer.pullRequest : null,
    byHand: await Promise.all(byHand),
  };
}
