// Changes of files that Signalbox proposes as a pull request of its own.

/** A change of files that are there, on a branch that is Signalbox's own. */
export type FileProposal = {
  readonly branch: string;
  readonly baseBranch: string;
  /** Of the pull request, and the message of its commits. */
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  readonly files: readonly ChangedFile[];
};

type ChangedFile = {
  readonly path: string;
  /** The whole file, as it is to be. */
  readonly text: string;
  /** The blob that was changed: a file that is another by now stays as it is. */
  readonly sha: string;
};

export type OpenProposal = {
  readonly number: number;
  readonly url: string;
  /** False: it was open already, and stays as it is. */
  readonly isNew: boolean;
};

export type ProposalAnswer =
  | { readonly kind: 'open'; readonly pullRequest: OpenProposal }
  /** The host does not let Signalbox change these files, or open the pull request. */
  | { readonly kind: 'refused'; readonly reason: string };
