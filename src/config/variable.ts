// Every environment variable of the service: how it is parsed, its default and its description.
// docs/reference/config.md is generated from this table.

import { z } from 'zod';
import { withoutTrailing } from '#base/text.ts';
import { type BlobAddress, parseBlobUrl } from './blob-url.ts';
import { oidcVariables } from './oidc.ts';
import { traceVariables } from './trace.ts';
import { parseWebhookAllow, type WebhookAllow } from './webhook.ts';

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

const databaseUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\/.+/, 'must be a URL like postgresql://user:password@host:5432/database');

/** When the sandbox host serves; `auto`: while no real Git host is connected. */
export type SandboxMode = 'on' | 'off' | 'auto';

export type CellAddress = { readonly name: string; readonly url: string };

const cells = z.string().transform((text, context): CellAddress[] => {
  const seen = new Set<string>();
  if (text.trim() === '') context.addIssue({ code: 'custom', message: 'must name at least one cell' });
  return text
    .split(/\s+/)
    .filter((item) => item !== '')
    .map((item) => {
      const [, name = '', url = ''] = /^([^=]*)=(.*)$/.exec(item) ?? [];
      const problem = (message: string) => context.addIssue({ code: 'custom', message });
      if (!/^[a-z][a-z0-9-]{0,31}$/.test(name) || !databaseUrl.safeParse(url).success)
        problem('must be items name=postgresql://… separated by spaces, with names of a-z, 0-9 and dashes');
      if (seen.has(name)) problem(`names the cell ${name} twice`);
      seen.add(name);
      return { name, url };
    });
});

/** The committer of Signalbox's commits. */
export type Committer = { readonly name: string; readonly email: string };

const committer = z.string().transform((text, context): Committer => {
  const [, name, email] = /^([^<>\n]{1,200}) <([^<>\s]{1,200})>$/.exec(text.trim()) ?? [];
  if (name !== undefined && email !== undefined) return { name: name.trim(), email };
  context.addIssue({ code: 'custom', message: 'must be a name and an e-mail address: Name <address>' });
  return z.NEVER;
});

const httpUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/$/, ''));

const blobUrl = z.string().transform((text, context): BlobAddress => {
  const address = parseBlobUrl(text);
  if (typeof address !== 'string') return address;
  context.addIssue({ code: 'custom', message: address });
  return z.NEVER;
});

/** Base URLs without a slash at their end, each once. */
const gitHosts = z.string().transform((text, context): readonly string[] => {
  const urls = text.split(/[\s,]+/).filter((item) => item !== '');
  for (const item of urls) {
    const { protocol = '', username, password, search, hash } = URL.parse(item) ?? {};
    if (!/^https?:$/.test(protocol) || [username, password, search, hash].some(Boolean))
      context.addIssue({
        code: 'custom',
        message: `must be URLs like https://git.example, and ${item} is not one`,
      });
  }
  return [...new Set(urls.map((item) => withoutTrailing(item, '/')))];
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
    doc: 'URL of the PostgreSQL database, for an installation with one cell. That cell is called `main`.',
  },
  SIGNALBOX_CELLS: {
    schema: cells.optional(),
    doc: 'Several cells, instead of `DATABASE_URL`: `name=url` items separated by spaces. A bootstrap token without a cell name is looked up in the first.',
  },
  SIGNALBOX_ADDRESS: {
    schema: z.string().default('127.0.0.1'),
    doc: 'IP address or host name on which the API listens.',
  },
  SIGNALBOX_PORT: {
    schema: integer(0, 65_535).optional(),
    doc: 'Port on which the API listens. 0: any free port. Default: `PORT`, or 8080.',
  },
  PORT: {
    schema: integer(0, 65_535).optional(),
    doc: 'The same. Many platforms set it.',
  },
  SIGNALBOX_PUBLIC_URL: {
    schema: httpUrl.optional(),
    doc: 'URL under which people reach this installation; links start with it. Default: `http://localhost:` and the port.',
  },
  SIGNALBOX_SANDBOX: {
    schema: z.enum(['on', 'off', 'auto']).default('auto'),
    doc: 'Whether the built-in sandbox host is on. `auto`: while no Git host is connected in the cell. `on`: also beside connected Git hosts, for every other host name. `off`: never. The sandbox creates repositories and pull requests when a request first names them. It never serves the host name of a connection, nor a repository of a real Git host.',
  },
  SIGNALBOX_SANDBOX_SCRIPTS: {
    schema: z.enum(['on', 'off']).default('off'),
    doc: 'Let repositories of the sandbox host run `ci.sh` as their CI. Anyone who can push to them can then run programs as the user of Signalbox.',
  },
  SIGNALBOX_COMMITTER: {
    schema: committer.optional(),
    doc: 'Committer of the commits that Signalbox pushes: `Name <address>`. Default: the account of Signalbox at the Git host, with its noreply address.',
  },
  SIGNALBOX_DATA_DIR: {
    schema: z.string().default('.data'),
    doc: 'Folder for Git repositories. API processes and workers must share it while the sandbox host is on.',
  },
  SIGNALBOX_MIRROR_MAX_MIB: {
    schema: integer(1, 1_000_000_000).optional(),
    doc: 'Disk space for mirrors of repositories in the data folder of a worker, in MiB. If they need more, the worker removes the least recently used mirror and fetches it again when needed. Default: 70 % of the space of the mirrors and the free space of the volume together.',
  },
  SIGNALBOX_PARTIAL_CLONE: {
    schema: z.enum(['on', 'off']).default('on'),
    doc: 'Whether new mirrors are partial clones, if the Git host supports it: a file is fetched when a merge needs it. `off`: the first fetch takes everything, and each later fetch of pull requests saves a request. Existing mirrors do not change.',
  },
  SIGNALBOX_ALIVE_FILE: {
    schema: z.string().min(1).optional(),
    doc: 'File that the process touches every second while its event loop runs, for a liveness probe. Default: none.',
  },
  SIGNALBOX_BOOTSTRAP_ORG: {
    schema: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be a slug of a-z, 0-9 and dashes')
      .optional(),
    doc: 'Slug of an organization to create at startup if it does not exist. Needs `SIGNALBOX_BOOTSTRAP_TOKEN`.',
  },
  SIGNALBOX_BOOTSTRAP_TOKEN: {
    schema: z.string().min(16, 'must have at least 16 characters').max(512).optional(),
    doc: 'Token with all scopes to create for that organization: any string of at least 16 characters.',
  },
  SIGNALBOX_LOG_LEVEL: {
    schema: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
    doc: 'Lowest level that is logged. `debug` logs every request.',
  },
  SIGNALBOX_RATE_LIMIT: {
    schema: integer(1, 1_000_000).default(100),
    doc: 'Requests per second by tokens, for each organization and process; users on the dashboard have ten times as many.',
  },
  SIGNALBOX_RATE_BURST: {
    schema: integer(1, 1_000_000).default(200),
    doc: 'Burst: requests that an organization can send at once before the rate limit applies.',
  },
  SIGNALBOX_METRICS_RATE_LIMIT: {
    schema: integer(1, 1_000_000).default(5),
    doc: 'Requests of getMergeQueueMetrics per second, for each organization and process.',
  },
  SIGNALBOX_DB_CONNECTIONS: {
    schema: integer(2, 1_000).default(10),
    doc: 'Database connections for transactions, per cell and process.',
  },
  SIGNALBOX_DB_READERS: {
    schema: integer(1, 100).default(4),
    doc: 'Database connections that all reads share, per cell and process.',
  },
  SIGNALBOX_WORKER_CONCURRENCY: {
    schema: integer(1, 1_000).default(10),
    doc: 'Concurrent jobs, per cell and process.',
  },
  SIGNALBOX_SWEEP_SECONDS: {
    schema: integer(1, 3_600).default(30),
    doc: 'Seconds between two polls of the Git host by a queue with pull requests, in case webhooks were lost.',
  },
  SIGNALBOX_SECRET_KEY: {
    schema: z
      .string()
      .transform((text) => Buffer.from(text, 'base64'))
      .refine(
        (key) => key.length === 32,
        'must be 32 bytes as base64: create a key with `openssl rand -base64 32`',
      )
      .optional(),
    doc: 'Key that encrypts the credentials of Git hosts and the secrets of webhook endpoints: 32 bytes as base64 (`openssl rand -base64 32`). Required by `signalbox admin connect`, and by every process that uses Git hosts or webhooks. Store it separately from backups of the database.',
  },
  SIGNALBOX_SECRET_KEY_PREVIOUS: {
    schema: z
      .string()
      .transform((text) => text.split(',').map((key) => Buffer.from(key.trim(), 'base64')))
      .refine(
        (keys) => keys.length <= 5 && keys.every((key) => key.length === 32),
        'must be at most 5 comma-separated keys of 32 bytes as base64',
      )
      .optional(),
    doc: 'Previous values of SIGNALBOX_SECRET_KEY, comma-separated. Signalbox uses them only to decrypt. Remove them after `signalbox admin rotate-key`.',
  },
  SIGNALBOX_COMMAND_WORDS: {
    schema: z
      .string()
      .default('signalbox')
      .transform((text) => text.split(',').map((commandName) => commandName.trim().toLowerCase()))
      .refine(
        (commandNames) => commandNames.every((commandName) => /^[a-z][a-z0-9-]{0,30}$/.test(commandName)),
        'must be comma-separated names of a-z, 0-9 and dashes',
      ),
    doc: 'Names that start a command in a comment, comma-separated: `signalbox` for `/signalbox merge`. Signalbox itself writes the first.',
  },
  SIGNALBOX_GIT_HOSTS: {
    schema: gitHosts.default(['https://github.com', 'https://codeberg.org', 'https://gitea.com']),
    doc: 'Git hosts that administrators of an organization can connect in the dashboard and over the API: their URLs, separated by spaces or commas. Signalbox calls only these for them. Default: `https://github.com https://codeberg.org https://gitea.com`. `signalbox admin connect` connects any other.',
  },
  SIGNALBOX_DRAIN_SECONDS: {
    schema: integer(0, 600).default(0),
    doc: 'Seconds after SIGTERM during which the API still accepts requests while `/readyz` fails, so that a load balancer stops sending them.',
  },
  SIGNALBOX_SHUTDOWN_SECONDS: {
    schema: integer(1, 600).default(25),
    doc: 'Seconds after SIGTERM in which requests and jobs must finish.',
  },
  SIGNALBOX_HISTORY_MONTHS: {
    schema: integer(1, 1_200).default(24),
    doc: 'Months of history of queues, pull requests, test runs and tests that are kept; older months are deleted.',
  },
  SIGNALBOX_RECORD_MONTHS: {
    schema: integer(1, 1_200).default(120),
    doc: 'Months for which landings with their attestations and the audit log are kept; at least as long as history.',
  },
  SIGNALBOX_TARGET_DAYS: {
    schema: integer(1, 36_500).default(90),
    doc: 'Days for which the impacted targets of a pull request are kept while it is in no queue. The history of a queue can be filtered by target for as long.',
  },
  SIGNALBOX_UPLOAD_TOKEN_UPLOADS: {
    schema: integer(1, 10_000_000).default(20_000),
    doc: 'Uploads per day (UTC) of a token whose only scope is upload. Further uploads get a 429.',
  },
  SIGNALBOX_UPLOAD_TOKEN_MIB: {
    schema: integer(1, 10_000_000).default(20_480),
    doc: 'MiB per day (UTC) that a token whose only scope is upload can upload. Further uploads get a 429.',
  },
  SIGNALBOX_UPLOAD_MAX_MIB: {
    schema: integer(1, 10_240).default(512),
    doc: 'Largest bundle of test reports that an upload URL accepts, in MiB.',
  },
  SIGNALBOX_UPLOAD_MINUTES: {
    schema: integer(1, 1_440).default(60),
    doc: 'Minutes for which an upload URL is valid.',
  },
  SIGNALBOX_BLOB_URL: {
    schema: blobUrl.optional(),
    doc: 'S3-compatible store of uploads: `s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-1&path-style=true`. Without `endpoint` it is Amazon S3. With `endpoint` the default of `path-style` is `true`. Default: uploads are stored in the database.',
  },
  SIGNALBOX_BLOB_ACCESS_KEY_ID: {
    schema: z.string().max(256).optional(),
    doc: 'Access key for that store. Default: the AWS client finds it in its own variables, in a profile, or from the role of the machine.',
  },
  SIGNALBOX_BLOB_SECRET_ACCESS_KEY: {
    schema: z.string().max(1024).optional(),
    doc: 'Secret of that access key.',
  },
  SIGNALBOX_WEBHOOK_ALLOW: {
    schema: webhookAllow.optional(),
    doc: 'Webhook destinations that are allowed in addition to public addresses over https: networks (`10.1.0.0/16`) and host names, comma-separated. Anyone who can create webhook endpoints can then make Signalbox call them, also over http.',
  },
  SIGNALBOX_WEBHOOK_TIMEOUT_SECONDS: {
    schema: integer(1, 30).default(10),
    doc: 'Seconds within which a webhook endpoint must answer.',
  },
  SIGNALBOX_TICKET_URL: {
    schema: z
      .string()
      .refine((url) => /^https?:\/\/.*\{id\}/.test(url), 'must be an http or https URL that contains {id}')
      .optional(),
    doc: 'URL of a ticket in your tracker, with `{id}` in place of its key. Default: none.',
  },
  ...oidcVariables,
  ...traceVariables,
} as const;
