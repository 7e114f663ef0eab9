// The configuration of a server for tests: on loopback only, quiet, and prompt.
import { randomBytes } from 'node:crypto';

export type Settings = Readonly<Record<string, Readonly<Record<string, string>>>>;

type Place = {
  readonly url: string;
  readonly port: number;
  /** Where everything that the server writes is. */
  readonly data: string;
  /** Where templates and texts are. */
  readonly assets: string;
};

const secret = () => randomBytes(32).toString('base64url');

/** By section; the section '' comes before the first heading. */
export const settingsFor = ({ url, port, data, assets }: Place): Settings => ({
  '': {
    APP_NAME: 'Gitea for tests',
    RUN_MODE: 'prod',
    WORK_PATH: data,
    // In a container the tests run as root, which Gitea refuses to. This one lives for a test and hears only loopback.
    ...(process.getuid?.() === 0 ? { I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true' } : {}),
  },
  server: {
    PROTOCOL: 'http',
    HTTP_ADDR: '127.0.0.1',
    HTTP_PORT: String(port),
    DOMAIN: '127.0.0.1',
    ROOT_URL: `${url}/`,
    STATIC_ROOT_PATH: assets,
    APP_DATA_PATH: `${data}/data`,
    DISABLE_SSH: 'true',
    OFFLINE_MODE: 'true',
    LFS_START_SERVER: 'false',
    // What still runs when it stops is a test that is over: it does not wait a minute for it.
    GRACEFUL_HAMMER_TIME: '2s',
  },
  // The journal lets others read while one writes; by default a write waits for all readers.
  database: { DB_TYPE: 'sqlite3', PATH: `${data}/gitea.db`, SQLITE_JOURNAL_MODE: 'WAL' },
  security: { INSTALL_LOCK: 'true', SECRET_KEY: secret(), INTERNAL_TOKEN: secret() },
  // Without this it spends seconds of its start on a key of RSA.
  oauth2: { JWT_SIGNING_ALGORITHM: 'HS256', JWT_SECRET: secret() },
  service: { DISABLE_REGISTRATION: 'true', ENABLE_CAPTCHA: 'false', REGISTER_EMAIL_CONFIRM: 'false' },
  mailer: { ENABLED: 'false' },
  packages: { ENABLED: 'false' },
  repository: { DEFAULT_BRANCH: 'main' },
  actions: { ENABLED: 'true', DEFAULT_ACTIONS_URL: 'self' },
  webhook: { ALLOWED_HOST_LIST: 'loopback' },
  // In memory: nothing needs to outlive the process, and whether a pull request can be merged is found out at once.
  queue: { TYPE: 'channel', MAX_WORKERS: '4' },
  session: { PROVIDER: 'memory' },
  cache: { ADAPTER: 'memory' },
  indexer: { ISSUE_INDEXER_TYPE: 'db' },
  'cron.update_checker': { ENABLED: 'false' },
  log: { MODE: 'console', LEVEL: 'Warn', ROOT_PATH: `${data}/log` },
});

export const merged = (settings: Settings, others: Settings): Settings => ({
  ...settings,
  ...Object.fromEntries(
    Object.entries(others).map(([section, values]) => [section, { ...settings[section], ...values }]),
  ),
});

export const iniOf = (settings: Settings): string =>
  Object.entries(settings)
    .toSorted(([one], [other]) => Number(one !== '') - Number(other !== ''))
    .map(
      ([section, values]) =>
        (section === '' ? '' : `[${section}]\n`) +
        Object.entries(values)
          .map(([key, value]) => `${key} = ${value}\n`)
          .join(''),
    )
    .join('\n');
