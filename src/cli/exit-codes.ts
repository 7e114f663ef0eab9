// How every command ends: one table for the commands, their help and docs/reference/cli.md.

export const exitCodes = {
  done: { code: 0, means: 'Done. After `wait` and `submit --wait`: the pull request is merged.' },
  refused: { code: 1, means: 'Refused or failed; the sentence on standard error says why.' },
  usage: { code: 2, means: 'Wrong usage: an option, an argument or a setting is not what it can be.' },
  failed: { code: 3, means: 'The pull request failed in the queue.' },
  cancelled: { code: 4, means: 'The pull request was taken out of the queue.' },
  timeout: { code: 5, means: 'The time of `--timeout` is over, and the pull request is still in the queue.' },
  notSubmitted: { code: 6, means: 'The pull request was never submitted to this queue.' },
  unreachable: { code: 7, means: 'The service does not answer, or cannot just now. It may be tried again.' },
  interrupted: { code: 130, means: 'Ended by Ctrl-C.' },
} as const satisfies Readonly<Record<string, { readonly code: number; readonly means: string }>>;

export type ExitName = keyof typeof exitCodes;

/** Ends a command: its message is shown, and says what to do next. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exit: ExitName;

  constructor(message: string, exit: ExitName = 'refused') {
    super(message);
    this.exit = exit;
  }
}
