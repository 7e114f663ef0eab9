/** The command line of the suite: where the deployment is, and which tokens may be used against it. */
import { parseArgs } from 'node:util';

export type Options = {
  /** Address of the deployment without the `/v1` segment and without a trailing slash. */
  readonly root: string;
  /** Token that holds every scope. */
  readonly token: string;
  /** Token of the same organization with only `read`. */
  readonly readToken: string | undefined;
  /** Token of the same organization with only `submit`. */
  readonly submitToken: string | undefined;
  /** Token of the same organization with only `upload`. */
  readonly uploadToken: string | undefined;
  /** Token with every scope, of another organization. */
  readonly otherToken: string | undefined;
  /** Runs only the sections whose name holds this text. */
  readonly only: string | undefined;
  /** Prints one JSON object in place of lines. */
  readonly json: boolean;
};

export const USAGE = `usage: npm run conformance -- --base-url URL --token T [options]

  --base-url URL       address of the deployment, with or without /v1
  --token T            token with every scope
  --read-token T       token of the same organization with only the scope read
  --submit-token T     token of the same organization with only the scope submit
  --upload-token T     token of the same organization with only the scope upload
  --other-token T      token with every scope, of another organization
  --only TEXT          run only the sections whose name contains TEXT
  --json               print one JSON object: { passed, failed, skipped, failures, skips }
`;

/** Parses the arguments; a string is a complaint to print above the usage. */
export function parseOptions(argv: readonly string[]): Options | string {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      args: [...argv],
      strict: true,
      allowPositionals: false,
      options: {
        'base-url': text,
        token: text,
        'read-token': text,
        'submit-token': text,
        'upload-token': text,
        'other-token': text,
        only: text,
        json: { type: 'boolean' },
      },
    });
    const baseUrl = values['base-url'];
    if (!baseUrl || !URL.canParse(baseUrl)) return '--base-url must be given, and be an address';
    if (!values.token) return '--token must be given';
    return {
      root: baseUrl.replace(/\/+$/, '').replace(/\/v1$/, ''),
      token: values.token,
      readToken: values['read-token'] || undefined,
      submitToken: values['submit-token'] || undefined,
      uploadToken: values['upload-token'] || undefined,
      otherToken: values['other-token'] || undefined,
      only: values.only,
      json: values.json ?? false,
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
