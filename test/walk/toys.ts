// The five toys: the files that each adds, and what it changes in files that exist. ARCHITECTURE.md has the same walks
// in words.

type Change = {
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
};

export type Toy = {
  /** By path, the file of the folder `toy` that is copied there. */
  readonly adds: Readonly<Record<string, string>>;
  readonly changes: readonly Change[];
};

const before = (file: string, find: string, line: string): Change => ({
  file,
  find,
  replace: `${line}\n${find}`,
});

const kinds = 'src/host/kinds.ts';
const monitors = 'src/core/health/monitor/monitors.ts';
const strategies = 'src/core/queue/planner/strategies.ts';
const settings = 'src/core/queue/settings.ts';
const tuning = 'docs/how-to/tuning.md';

/** A section of the page on tuning, which has one for every setting. */
const section = (name: string): Change =>
  before(tuning, '### `extensionEnabled`', `### \`${name}\`\n\n**What it is.** A setting of a toy.\n`);

/** The last line of the table of settings. */
const endOfSettings = '};\n\nexport type QueueSettings';

export const toys = {
  host: {
    adds: { 'src/host/toy/kind.ts': 'host-kind.ts.txt', 'src/host/toy/host.ts': 'host.ts.txt' },
    changes: [
      before(kinds, 'import type { AccessMethod', "import { toyKind } from './toy/kind.ts';"),
      before(kinds, '} as const satisfies', '  toy: toyKind,'),
    ],
  },
  monitor: {
    adds: { 'src/core/health/monitor/toy.ts': 'monitor.ts.txt' },
    changes: [
      before(monitors, 'import { passOnRetry }', "import { toyMonitor } from './toy.ts';"),
      before(monitors, '};\n\nexport type MonitorId', '  toy: toyMonitor,'),
    ],
  },
  strategy: {
    adds: { 'src/core/queue/planner/newest-first.ts': 'strategy.ts.txt' },
    changes: [
      before(strategies, 'import { prefixTrain }', "import { newestFirst } from './newest-first.ts';"),
      before(
        strategies,
        "  strategy === 'adaptive' ? adaptive",
        "  strategy === 'newestFirst' ? newestFirst :",
      ),
      {
        file: settings,
        find: "const strategyNames = ['adaptive', 'manual']",
        replace: "const strategyNames = ['adaptive', 'manual', 'newestFirst']",
      },
      before(
        settings,
        "      manual: 'The settings of batches decide.',",
        "      newestFirst: 'The newest entry is tested first.',",
      ),
      before(
        settings,
        endOfSettings,
        "  toyDoubts: onOff({ initial: true, group: 'Testing', label: 'Doubts', description: 'Run without what is ahead, too.' }),",
      ),
      section('toyDoubts'),
    ],
  },
  field: {
    adds: {},
    changes: [
      before('src/contract/pull-request.ts', '  prAuthor: z.string(),\n};', '  toyTitleLength: z.int(),'),
      before(
        'src/http/endpoint/present.ts',
        '    prAuthor: pullRequest.author,',
        '    toyTitleLength: pullRequest.title.length,',
      ),
    ],
  },
  setting: {
    adds: {},
    changes: [
      before(
        settings,
        endOfSettings,
        `  toyPauseMinutes: whole({
    min: 0,
    max: 60,
    initial: 0,
    group: 'Batches',
    label: 'Pause of the toy, minutes',
    description: 'Minutes that a batch waits in addition.',
  }),`,
      ),
      {
        file: 'src/core/queue/planner/batch.ts',
        find: 'settings.batchingMaxWaitTimeMinutes * minuteMs',
        replace: '(settings.batchingMaxWaitTimeMinutes + settings.toyPauseMinutes) * minuteMs',
      },
      section('toyPauseMinutes'),
    ],
  },
} as const satisfies Readonly<Record<string, Toy>>;
