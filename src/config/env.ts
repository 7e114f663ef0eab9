// The environment, parsed once and strictly: every problem at once, each with the name of its variable.
// docs/reference/config.md is generated from this table.

import { z } from 'zod';
import { type BlobAddress, parseBlobUrl } from './blob-url.ts';
import { clientVariables } from './client.ts';
import { parseWebhookAllow, type WebhookAllow, type WebhookConfig } from './webhook.ts';
import { type OidcConfig, oidcOf, oidcProblems, oidcVariables } from './oidc.ts';
import { type TraceConfig, traceOf, traceProblems, traceVariables } from './trace.ts';

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\/.+/, 'must be an address like postgresql://user:password@host:5432/database');

/** When the sandbox host serves; `auto`: while no real Git host is connected. */
export type SandboxMode = 'on' | 'off' | 'auto';

type CellAddress = { readonly name: string; readonly url: string };

const cells = z.string().transform((text, context): CellAddress[] => {
  const seen = new Set<string>();
  if (text.trim() === '') context.addIssue({ code: 'custom', message: 'names no cell' });
  return text
    .split(/\s+/)
    .filter((item) => item !== '')
    .map((item) => {
      const [, name = '', url = ''] = /^([^=]*)=(.*)$/.exec(item) ?? [];
      const problem = (message: string) => context.addIssue({ code: 'custom', message });
      if (!/^[a-z][a-z0-9-]{0,31}$/.test(name) || !databaseUrl.safeParse(url).success)
        problem('must be items name=postgresql://… separated by blanks, names of a-z, 0-9 and dashes');
      if (seen.has(name)) problem(`names the cell ${name} twice`);
      seen.add(name);
      return { name, url };
    });
});

/** Who makes our commits. */
type Committer = { readonly name: string; readonly email: string };

const committer = z.string().transform((text, context): Committer => {
  const [, name, email] = /^([^<>\n]{1,200}) <([^<>\s]{1,200})>$/.exec(text.trim()) ?? [];
  if (name !== undefined && email !== undefined) return { name: name.trim(), email };
  context.addIssue({ code: 'custom', message: 'must be a name and an address: Name <address>' });
  return z.NEVER;
});

const httpUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/$/, ''));

const blobUrl = z.string().transform((text, context): BlobAddress => {
  const address = parseBlobUrl(text);
  if (typeof address !== 'string') return address;
  context.addIssue({ code: 'custom', message: address });
  return z.NEVER;
});

const webhookAllow = z.string().transform((text, context): WebhookAllow => {
  const allow = parseWebhookAllow(text);
  if (typeof allow !== 'string') return allow;
  context.addIssue({ code: 'custom', message: allow });
  return z.NEVER;
});

/** Every variable: how it is read, what it is when absent (as text), and what it does. */
export const variables = {
  DATABASE_URL: {
    schema: databaseUrl.optional(),
    doc: 'Address of the PostgreSQL database, when there is one cell. It is then the cell `main`.',
  },
  SIGNALBOX_CELLS: {
    schema: cells.optional(),
    doc: 'Several cells: `name=address` items separated by blanks. The first is where a bootstrap token is looked up. Takes the place of `DATABASE_URL`.',
  },
  SIGNALBOX_ADDRESS: { schema: z.string().default('127.0.0.1'), doc: 'Address the API listens on.' },
  SIGNALBOX_PORT: {
    schema: integer(0, 65_535).default(8080),
    doc: 'Port the API listens on; 0 takes a free one.',
  },
  SIGNALBOX_PUBLIC_URL: {
    schema: httpUrl.optional(),
    doc: 'How people reach this installation; links begin with it. Default: `http://localhost:` and the port.',
  },
  SIGNALBOX_SANDBOX: {
    schema: z.enum(['on', 'off', 'auto']).default('auto'),
    doc: 'Whether the built-in sandbox host serves. `auto`: while no Git host is connected in the cell. `on`: also beside connected hosts, for every other name. `off`: never. The sandbox never serves a name that has a connection, or a repository of a real Git host.',
  },
  SIGNALBOX_SANDBOX_SCRIPTS: {
    schema: z.enum(['on', 'off']).default('off'),
    doc: 'Let repositories of the sandbox host run `ci.sh` as their CI. Whoever may push to them then runs programs as the user of Signalbox.',
  },
  SIGNALBOX_COMMITTER: {
    schema: committer.optional(),
    doc: 'Who makes the commits that Signalbox pushes: `Name <address>`. Default: its own account at the Git host, by the noreply address of the host.',
  },
  SIGNALBOX_DATA_DIR: {
    schema: z.string().default('.data'),
    doc: 'Folder for repositories on disk. The API and the workers must share it while the sandbox host is on.',
  },
  SIGNALBOX_MIRROR_MAX_MIB: {
    schema: integer(1, 1_000_000_000).optional(),
    doc: 'Most MiB of disk that the mirrors of repositories take in the data folder of a worker. When they take more, the mirror that was used least recently is removed, and fetched again when it is needed. Default: 70 % of what mirrors and free space take on the volume.',
  },
  SIGNALBOX_PARTIAL_CLONE: {
    schema: z.enum(['on', 'off']).default('on'),
    doc: 'Whether new mirrors leave out files until a merge needs them, where the Git host allows it. `off` fetches everything at first and saves a request for each fetch of new pull requests. Mirrors that are there stay as they are.',
  },
  SIGNALBOX_ALIVE_FILE: {
    schema: z.string().min(1).optional(),
    doc: 'A file that the process touches every second while its event loop moves, for a liveness probe. Default: none.',
  },
  SIGNALBOX_BOOTSTRAP_ORG: {
    schema: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be a slug of a-z, 0-9 and dashes')
      .optional(),
    doc: 'Slug of an organization to create at start if it is not there. Needs `SIGNALBOX_BOOTSTRAP_TOKEN`.',
  },
  SIGNALBOX_BOOTSTRAP_TOKEN: {
    schema: z.string().min(16, 'must have at least 16 characters').max(512).optional(),
    doc: 'Token with all scopes to create for that organization; any string of 16 characters or more.',
  },
  SIGNALBOX_LOG_LEVEL: {
    schema: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    doc: 'Least level that is logged. `debug` logs every request.',
  },
  SIGNALBOX_RATE_LIMIT: {
    schema: integer(1, 1_000_000).default(100),
    doc: 'Requests a second per organization and process, by tokens; its people on the dashboard have ten times as many.',
  },
  SIGNALBOX_RATE_BURST: {
    schema: integer(1, 1_000_000).default(200),
    doc: 'Requests an organization may send at once before the limit holds.',
  },
  SIGNALBOX_METRICS_RATE_LIMIT: {
    schema: integer(1, 1_000_000).default(5),
    doc: 'Reads of getMergeQueueMetrics a second per organization and process.',
  },
  SIGNALBOX_DB_CONNECTIONS: {
    schema: integer(2, 1_000).default(10),
    doc: 'Connections per cell and process for transactions.',
  },
  SIGNALBOX_DB_READERS: {
    schema: integer(1, 100).default(4),
    doc: 'Connections per cell and process that all reads share.',
  },
  SIGNALBOX_WORKER_CONCURRENCY: {
    schema: integer(1, 1_000).default(10),
    doc: 'Jobs at once per cell and process.',
  },
  SIGNALBOX_SWEEP_SECONDS: {
    schema: integer(1, 3_600).default(30),
    doc: 'How often a queue with pull requests in it asks its host for what webhooks may have missed.',
  },
  SIGNALBOX_SECRET_KEY: {
    schema: z
      .string()
      .transform((text) => Buffer.from(text, 'base64'))
      .refine(
        (key) => key.length === 32,
        'must be 32 bytes as base64: make one with `openssl rand -base64 32`',
      )
      .optional(),
    doc: 'Key that seals what lets Signalbox into real hosts and webhook endpoints: 32 bytes as base64 (`openssl rand -base64 32`). Needed by `signalbox admin connect`, and by every process that works with real hosts or webhooks. Keep it apart from backups of the database.',
  },
  SIGNALBOX_SECRET_KEY_PREVIOUS: {
    schema: z
      .string()
      .transform((text) => text.split(',').map((key) => Buffer.from(key.trim(), 'base64')))
      .refine(
        (keys) => keys.length <= 5 && keys.every((key) => key.length === 32),
        'must be up to 5 keys of 32 bytes as base64, with commas between them',
      )
      .optional(),
    doc: 'Keys that SIGNALBOX_SECRET_KEY replaced, with commas between them: they still decrypt. Remove them after `signalbox admin rotate-key`.',
  },
  SIGNALBOX_COMMAND_WORDS: {
    schema: z
      .string()
      .default('signalbox')
      .transform((text) => text.split(',').map((word) => word.trim().toLowerCase()))
      .refine(
        (words) => words.every((word) => /^[a-z][a-z0-9-]{0,30}$/.test(word)),
        'must be words of a-z, 0-9 and dashes, with commas between them',
      ),
    doc: 'Words after the slash of a command in a comment, with commas between them: `/signalbox merge`. The first is the one that Signalbox names.',
  },
  SIGNALBOX_DRAIN_SECONDS: {
    schema: integer(0, 600).default(0),
    doc: 'Seconds after SIGTERM in which requests are still taken while `/readyz` says no, so that a load balancer can look away.',
  },
  SIGNALBOX_SHUTDOWN_SECONDS: {
    schema: integer(1, 600).default(25),
    doc: 'Seconds that requests and jobs have to finish after SIGTERM.',
  },
  SIGNALBOX_HISTORY_MONTHS: {
    schema: integer(1, 1_200).default(24),
    doc: 'Whole months of history that are kept, of queues, pull requests, test runs and tests; older ones are removed.',
  },
  SIGNALBOX_RECORD_MONTHS: {
    schema: integer(1, 1_200).default(120),
    doc: 'Whole months that landings with their attestations and the audit log are kept; at least as long as history.',
  },
  SIGNALBOX_TARGET_DAYS: {
    schema: integer(1, 36_500).default(90),
    doc: 'Days that impacted targets of a pull request are kept while it is in no queue. The history of a queue can be narrowed to a target for as long.',
  },
  SIGNALBOX_UPLOAD_TOKEN_UPLOADS: {
    schema: integer(1, 10_000_000).default(20_000),
    doc: 'Uploads that a token whose only scope is upload may send in a day (UTC). More are answered with 429.',
  },
  SIGNALBOX_UPLOAD_TOKEN_MIB: {
    schema: integer(1, 10_000_000).default(20_480),
    doc: 'MiB that a token whose only scope is upload may send in a day (UTC). More are answered with 429.',
  },
  SIGNALBOX_UPLOAD_MAX_MIB: {
    schema: integer(1, 10_240).default(512),
    doc: 'Largest bundle of test reports that is taken at an upload address, in MiB.',
  },
  SIGNALBOX_UPLOAD_MINUTES: {
    schema: integer(1, 1_440).default(60),
    doc: 'Minutes in which an upload address may be used after it was given out.',
  },
  SIGNALBOX_BLOB_URL: {
    schema: blobUrl.optional(),
    doc: 'Where uploads are kept: `s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-1&path-style=true`. Without `endpoint` it is Amazon S3. `path-style` is `true` when there is an endpoint and it does not say otherwise. Default: in the database.',
  },
  SIGNALBOX_BLOB_ACCESS_KEY_ID: {
    schema: z.string().max(256).optional(),
    doc: 'Access key for that store. Default: what the AWS client finds: its own variables, a profile, or the role of the machine.',
  },
  SIGNALBOX_BLOB_SECRET_ACCESS_KEY: {
    schema: z.string().max(1024).optional(),
    doc: 'Secret of that access key.',
  },
  SIGNALBOX_WEBHOOK_ALLOW: {
    schema: webhookAllow.optional(),
    doc: 'Where events may be sent beside public addresses over https: networks (`10.1.0.0/16`) and host names, with commas between them. Whoever may make webhook endpoints can then have Signalbox call them, also over http.',
  },
  SIGNALBOX_WEBHOOK_TIMEOUT_SECONDS: {
    schema: integer(1, 30).default(10),
    doc: 'Seconds that a webhook endpoint has to answer.',
  },
  SIGNALBOX_TICKET_URL: {
    schema: z
      .string()
      .refine((url) => /^https?:\/\/.*\{id\}/.test(url), 'must be an http address that holds {id}')
      .optional(),
    doc: 'Address of a ticket in your tracker, with `{id}` where its key goes.',
  },
  ...oidcVariables,
  ...traceVariables,
} as const;

type Variables = typeof variables;
type Parsed = { [Name in keyof Variables]: z.output<Variables[Name]['schema']> };

type BlobConfig = BlobAddress & {
  /** Null: found by the client of the store. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
};

export type Config = {
  readonly cells: readonly CellAddress[];
  readonly address: string;
  readonly port: number;
  readonly publicUrl: string;
  /** False: nobody said how people reach us, and an address is better made from how a request did. */
  readonly isPublicUrlGiven: boolean;
  readonly sandbox: SandboxMode;
  readonly sandboxScripts: boolean;
  readonly committer: Committer | null;
  readonly dataDir: string;
  /** Most bytes of all mirrors of a worker; null: a share of the volume. */
  readonly mirrorBytesMax: number | null;
  readonly isPartialClone: boolean;
  readonly bootstrap: { readonly organization: string; readonly token: string } | null;
  readonly logLevel: Parsed['SIGNALBOX_LOG_LEVEL'];
  readonly rateLimit: {
    readonly perSecond: number;
    readonly burst: number;
    readonly metricsPerSecond: number;
  };
  readonly connections: number;
  readonly readerConnections: number;
  readonly workerConcurrency: number;
  readonly sweepMs: number;
  /** With those that it replaced, which still decrypt. */
  readonly secretKey: readonly [active: Buffer, ...previous: Buffer[]] | Buffer | null;
  readonly commandWords: readonly string[];
  /** Touched while the event loop moves; null: none. */
  readonly aliveFile: string | null;
  readonly drainMs: number;
  readonly shutdownMs: number;
  readonly historyMonths: number;
  readonly recordMonths: number;
  readonly targetDays: number;
  readonly ticketUrl: string | null;
  readonly webhook: WebhookConfig;
  readonly upload: {
    readonly bytesMax: number;
    /** How long an upload address may be used. */
    readonly addressMs: number;
    /** What a token whose only scope is upload may send in a day. */
    readonly quota: { readonly uploads: number; readonly bytes: number };
  };
  /** The S3-compatible store that uploads are kept in; null: the database. */
  readonly blob: BlobConfig | null;
  /** Null: people sign in to the dashboard with tokens alone. */
  readonly oidc: OidcConfig | null;
  /** Null: nothing is traced. */
  readonly trace: TraceConfig | null;
};

type EnvResult =
  | { readonly kind: 'parsed'; readonly config: Config }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

export function parseEnv(given: Readonly<Record<string, string | undefined>>): EnvResult {
  // A variable that is set but empty counts as absent: that is how many tools unset one.
  const env = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== ''),
  );
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { schema }] of Object.entries(variables)) {
    const result = schema.safeParse(env[name]);
    if (result.success) values[name] = result.data;
    else for (const issue of result.error.issues) problems.push(`${name}: ${issue.message}`);
  }
  for (const name of Object.keys(env))
    if (name.startsWith('SIGNALBOX_') && !(name in variables) && !(name in clientVariables))
      problems.push(`${name}: there is no such variable; see docs/reference/config.md`);
  const parsed = values as Parsed;
  if (env['DATABASE_URL'] === undefined && env['SIGNALBOX_CELLS'] === undefined)
    problems.push('DATABASE_URL: set it to the address of a PostgreSQL database, or set SIGNALBOX_CELLS');
  if (env['DATABASE_URL'] !== undefined && env['SIGNALBOX_CELLS'] !== undefined)
    problems.push('SIGNALBOX_CELLS: set either this or DATABASE_URL, not both');
  if ((env['SIGNALBOX_BOOTSTRAP_ORG'] === undefined) !== (env['SIGNALBOX_BOOTSTRAP_TOKEN'] === undefined))
    problems.push('SIGNALBOX_BOOTSTRAP_ORG and SIGNALBOX_BOOTSTRAP_TOKEN: set both or neither');
  if (
    (env['SIGNALBOX_BLOB_ACCESS_KEY_ID'] === undefined) !==
    (env['SIGNALBOX_BLOB_SECRET_ACCESS_KEY'] === undefined)
  )
    problems.push('SIGNALBOX_BLOB_ACCESS_KEY_ID and SIGNALBOX_BLOB_SECRET_ACCESS_KEY: set both or neither');
  if (env['SIGNALBOX_BLOB_URL'] === undefined && env['SIGNALBOX_BLOB_ACCESS_KEY_ID'] !== undefined)
    problems.push('SIGNALBOX_BLOB_URL: set it too, or no key for it');
  if (env['SIGNALBOX_SECRET_KEY'] === undefined && env['SIGNALBOX_SECRET_KEY_PREVIOUS'] !== undefined)
    problems.push('SIGNALBOX_SECRET_KEY: set it too: the previous keys only decrypt');
  problems.push(...oidcProblems(env), ...traceProblems(env));
  if (problems.length > 0) return { kind: 'invalid', problems };
  const config = configOf(parsed);
  const [, cell] = /^sbx_([^_]*)/.exec(config.bootstrap?.token ?? '') ?? [];
  if (cell !== undefined && !config.cells.some(({ name }) => name === cell))
    return {
      kind: 'invalid',
      problems: [
        `SIGNALBOX_BOOTSTRAP_TOKEN: begins with sbx_ and so must name a cell (sbx_${config.cells[0]?.name}_…)`,
      ],
    };
  return { kind: 'parsed', config };
}

function secretKeyFrom(parsed: Parsed): Config['secretKey'] {
  const active = parsed.SIGNALBOX_SECRET_KEY;
  return active === undefined ? null : [active, ...(parsed.SIGNALBOX_SECRET_KEY_PREVIOUS ?? [])];
}

function configOf(parsed: Parsed): Config {
  const organization = parsed.SIGNALBOX_BOOTSTRAP_ORG;
  const token = parsed.SIGNALBOX_BOOTSTRAP_TOKEN;
  return {
    cells: parsed.SIGNALBOX_CELLS ?? [{ name: 'main', url: parsed.DATABASE_URL ?? '' }],
    address: parsed.SIGNALBOX_ADDRESS,
    port: parsed.SIGNALBOX_PORT,
    publicUrl: parsed.SIGNALBOX_PUBLIC_URL ?? `http://localhost:${parsed.SIGNALBOX_PORT}`,
    isPublicUrlGiven: parsed.SIGNALBOX_PUBLIC_URL !== undefined,
    sandbox: parsed.SIGNALBOX_SANDBOX,
    sandboxScripts: parsed.SIGNALBOX_SANDBOX_SCRIPTS === 'on',
    committer: parsed.SIGNALBOX_COMMITTER ?? null,
    dataDir: parsed.SIGNALBOX_DATA_DIR,
    isPartialClone: parsed.SIGNALBOX_PARTIAL_CLONE === 'on',
    mirrorBytesMax:
      parsed.SIGNALBOX_MIRROR_MAX_MIB === undefined ? null : parsed.SIGNALBOX_MIRROR_MAX_MIB * 1_048_576,
    bootstrap: organization === undefined || token === undefined ? null : { organization, token },
    logLevel: parsed.SIGNALBOX_LOG_LEVEL,
    rateLimit: {
      perSecond: parsed.SIGNALBOX_RATE_LIMIT,
      burst: parsed.SIGNALBOX_RATE_BURST,
      metricsPerSecond: parsed.SIGNALBOX_METRICS_RATE_LIMIT,
    },
    connections: parsed.SIGNALBOX_DB_CONNECTIONS,
    readerConnections: parsed.SIGNALBOX_DB_READERS,
    workerConcurrency: parsed.SIGNALBOX_WORKER_CONCURRENCY,
    sweepMs: parsed.SIGNALBOX_SWEEP_SECONDS * 1000,
    secretKey: secretKeyFrom(parsed),
    commandWords: parsed.SIGNALBOX_COMMAND_WORDS,
    aliveFile: parsed.SIGNALBOX_ALIVE_FILE ?? null,
    drainMs: parsed.SIGNALBOX_DRAIN_SECONDS * 1000,
    shutdownMs: parsed.SIGNALBOX_SHUTDOWN_SECONDS * 1000,
    historyMonths: parsed.SIGNALBOX_HISTORY_MONTHS,
    recordMonths: parsed.SIGNALBOX_RECORD_MONTHS,
    targetDays: parsed.SIGNALBOX_TARGET_DAYS,
    ticketUrl: parsed.SIGNALBOX_TICKET_URL ?? null,
    webhook: {
      allow: parsed.SIGNALBOX_WEBHOOK_ALLOW ?? { networks: [], hosts: [] },
      timeoutMs: parsed.SIGNALBOX_WEBHOOK_TIMEOUT_SECONDS * 1000,
    },
    upload: {
      bytesMax: parsed.SIGNALBOX_UPLOAD_MAX_MIB * 1_048_576,
      addressMs: parsed.SIGNALBOX_UPLOAD_MINUTES * 60_000,
      quota: {
        uploads: parsed.SIGNALBOX_UPLOAD_TOKEN_UPLOADS,
        bytes: parsed.SIGNALBOX_UPLOAD_TOKEN_MIB * 1_048_576,
      },
    },
    blob: blobOf(parsed),
    oidc: oidcOf(parsed),
    trace: traceOf(parsed),
  };
}

function blobOf(parsed: Parsed): BlobConfig | null {
  if (parsed.SIGNALBOX_BLOB_URL === undefined) return null;
  const accessKeyId = parsed.SIGNALBOX_BLOB_ACCESS_KEY_ID;
  const secretAccessKey = parsed.SIGNALBOX_BLOB_SECRET_ACCESS_KEY;
  const isGiven = accessKeyId !== undefined && secretAccessKey !== undefined;
  return { ...parsed.SIGNALBOX_BLOB_URL, credentials: isGiven ? { accessKeyId, secretAccessKey } : null };
}
