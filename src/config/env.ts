// The environment, parsed once and strictly: all problems are reported together, each with its variable.

import type { z } from 'zod';
import type { BlobAddress } from './blob-url.ts';
import { clientVariables } from './client.ts';
import { type OidcConfig, buildOidcConfig, oidcProblems } from './oidc.ts';
import { type TraceConfig, buildTraceConfig, traceProblems } from './trace.ts';
import { type CellAddress, type Committer, type SandboxMode, variables } from './variable.ts';
import type { WebhookConfig } from './webhook.ts';

type ConfigVariables = typeof variables;
type ParsedConfigVariables = { [Name in keyof ConfigVariables]: z.output<ConfigVariables[Name]['schema']> };

type BlobConfig = BlobAddress & {
  /** Null: found by the client of the store. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
};

export type Config = {
  readonly cells: readonly CellAddress[];
  readonly address: string;
  readonly port: number;
  readonly publicUrl: string;
  /** False: no public URL is configured, and URLs are better derived from the request. */
  readonly isPublicUrlGiven: boolean;
  readonly sandbox: SandboxMode;
  readonly sandboxScripts: boolean;
  readonly committer: Committer | null;
  readonly dataDir: string;
  /** Most bytes of all mirrors of a worker; null: a share of the volume. */
  readonly mirrorBytesMax: number | null;
  readonly isPartialClone: boolean;
  readonly bootstrap: { readonly organization: string; readonly token: string } | null;
  readonly logLevel: ParsedConfigVariables['SIGNALBOX_LOG_LEVEL'];
  readonly rateLimit: {
    readonly perSecond: number;
    readonly burst: number;
    readonly metricsPerSecond: number;
  };
  readonly connections: number;
  readonly readerConnections: number;
  readonly workerConcurrency: number;
  readonly sweepMs: number;
  /** With the keys that it replaced, which still decrypt. */
  readonly secretKey: readonly [active: Buffer, ...previous: Buffer[]] | Buffer | null;
  /** The URLs of the Git hosts that administrators of organizations can connect. */
  readonly gitHosts: readonly string[];
  readonly commandNames: readonly string[];
  /** Touched while the event loop runs; null: none. */
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
    /** How long an upload URL is valid. */
    readonly addressMs: number;
    /** What a token whose only scope is upload may send in a day. */
    readonly quota: { readonly uploads: number; readonly bytes: number };
  };
  /** The S3-compatible store of uploads; null: the database. */
  readonly blob: BlobConfig | null;
  /** Null: people sign in to the dashboard with tokens only. */
  readonly oidc: OidcConfig | null;
  /** Null: tracing is off. */
  readonly trace: TraceConfig | null;
};

type EnvResult =
  | { readonly kind: 'parsed'; readonly config: Config }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

export function parseEnv(given: Readonly<Record<string, string | undefined>>): EnvResult {
  // A variable that is set but empty counts as absent: many tools unset a variable this way.
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
      problems.push(`${name}: is not a variable of Signalbox; see docs/reference/config.md`);
  const parsed = values as ParsedConfigVariables;
  if (env['DATABASE_URL'] === undefined && env['SIGNALBOX_CELLS'] === undefined)
    problems.push('DATABASE_URL: set it to the URL of a PostgreSQL database, or set SIGNALBOX_CELLS');
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
    problems.push(
      'SIGNALBOX_BLOB_URL: set it, or remove SIGNALBOX_BLOB_ACCESS_KEY_ID and SIGNALBOX_BLOB_SECRET_ACCESS_KEY',
    );
  if (env['SIGNALBOX_SECRET_KEY'] === undefined && env['SIGNALBOX_SECRET_KEY_PREVIOUS'] !== undefined)
    problems.push(
      'SIGNALBOX_SECRET_KEY: set it too, because SIGNALBOX_SECRET_KEY_PREVIOUS is only for decryption',
    );
  problems.push(...oidcProblems(env), ...traceProblems(env));
  if (problems.length > 0) return { kind: 'invalid', problems };
  const config = buildConfig(parsed);
  const [, cell] = /^sbx_([^_]*)/.exec(config.bootstrap?.token ?? '') ?? [];
  if (cell !== undefined && !config.cells.some(({ name }) => name === cell))
    return {
      kind: 'invalid',
      problems: [
        `SIGNALBOX_BOOTSTRAP_TOKEN: starts with sbx_, so it must name a cell (sbx_${config.cells[0]?.name}_…)`,
      ],
    };
  return { kind: 'parsed', config };
}

function secretKeyFrom(parsed: ParsedConfigVariables): Config['secretKey'] {
  const active = parsed.SIGNALBOX_SECRET_KEY;
  return active === undefined ? null : [active, ...(parsed.SIGNALBOX_SECRET_KEY_PREVIOUS ?? [])];
}

function buildConfig(parsed: ParsedConfigVariables): Config {
  const organization = parsed.SIGNALBOX_BOOTSTRAP_ORG;
  const token = parsed.SIGNALBOX_BOOTSTRAP_TOKEN;
  const port = parsed.SIGNALBOX_PORT ?? parsed.PORT ?? 8080;
  return {
    cells: parsed.SIGNALBOX_CELLS ?? [{ name: 'main', url: parsed.DATABASE_URL ?? '' }],
    address: parsed.SIGNALBOX_ADDRESS,
    port,
    publicUrl: parsed.SIGNALBOX_PUBLIC_URL ?? `http://localhost:${port}`,
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
    gitHosts: parsed.SIGNALBOX_GIT_HOSTS,
    commandNames: parsed.SIGNALBOX_COMMAND_WORDS,
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
    blob: buildBlobConfig(parsed),
    oidc: buildOidcConfig(parsed),
    trace: buildTraceConfig(parsed),
  };
}

function buildBlobConfig(parsed: ParsedConfigVariables): BlobConfig | null {
  if (parsed.SIGNALBOX_BLOB_URL === undefined) return null;
  const accessKeyId = parsed.SIGNALBOX_BLOB_ACCESS_KEY_ID;
  const secretAccessKey = parsed.SIGNALBOX_BLOB_SECRET_ACCESS_KEY;
  const isGiven = accessKeyId !== undefined && secretAccessKey !== undefined;
  return { ...parsed.SIGNALBOX_BLOB_URL, credentials: isGiven ? { accessKeyId, secretAccessKey } : null };
}
