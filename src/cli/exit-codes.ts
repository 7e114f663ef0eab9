// The exit codes of all commands: one table for the commands, their help and docs/reference/cli.md.

export const exitCodes = {
  done: { code: 0, means: 'Success. After `wait` and `submit --wait`: the pull request is merged.' },
  refused: { code: 1, means: 'The command was refused or failed. Standard error has the reason.' },
  usage: { code: 2, means: 'Usage error: an option, an argument or a setting is not valid.' },
  failed: { code: 3, means: 'The pull request failed in the queue.' },
  cancelled: { code: 4, means: 'The pull request was removed from the queue.' },
  timeout: { code: 5, means: 'The `--timeout` expired while the pull request was still in the queue.' },
  notSubmitted: { code: 6, means: 'The pull request was never submitted to this queue.' },
  unreachable: { code: 7, means: 'Signalbox is unreachable or overloaded. Try again later.' },
  interrupted: { code: 130, means: 'Interrupted by Ctrl-C.' },
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
