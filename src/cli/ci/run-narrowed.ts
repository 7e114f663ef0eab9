// Runs the user's command so that only some tests run: with arguments for the runner, and with plugins in a temporary folder.

import { statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { CiEnv } from '#config/ci-environment.ts';
import type { SelectedTest } from '#contract/health/test-selection.ts';
import { type CommandEnd, runCommand } from './run-command.ts';
import type { SelectionPlugin } from './selection/runner.ts';
import { selectTests } from './selection/select-tests.ts';

export type NarrowedRun = {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: CiEnv;
  /** Called before the command starts. */
  readonly onStart?: () => void;
  /** The tests have run before, and must run again. */
  readonly isRepeat?: boolean;
  /** After this time the command is terminated. */
  readonly timeoutMs?: number;
};

/** Null: the command cannot be narrowed to these tests, and did not start. */
export async function runNarrowed(
  { command, cwd, env, onStart, isRepeat = false, timeoutMs }: NarrowedRun,
  tests: readonly SelectedTest[],
): Promise<CommandEnd | null> {
  const pluginFolder = await mkdtemp(join(tmpdir(), 'signalbox-selection-'));
  try {
    const exists = (path: string) => isFile(resolve(cwd, path));
    const narrowed = selectTests(command, tests, { exists, pluginFolder, isRepeat });
    if (narrowed === null) return null;
    for (const { name, text } of narrowed.plugins) await writeFile(join(pluginFolder, name), text);
    onStart?.();
    const narrowedEnv = withPlugins(withoutToken(env), narrowed.plugins, pluginFolder);
    return await runCommand(narrowed.command, cwd, narrowedEnv, timeoutMs);
  } finally {
    // A folder that stays behind must not stop the tests.
    await rm(pluginFolder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** The tested code may be unreviewed: it gets no token for Signalbox. */
export function withoutToken({
  SIGNALBOX_API_TOKEN: _token,
  SIGNALBOX_ID_TOKEN: _idToken,
  ...rest
}: CiEnv): CiEnv {
  return rest;
}

/** False too for a text that cannot be a path. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function withPlugins(env: CiEnv, plugins: readonly SelectionPlugin[], folder: string): CiEnv {
  const names = plugins.flatMap(({ folderVariable }) => (folderVariable === null ? [] : [folderVariable]));
  const folders = (name: string) => [folder, env[name] ?? ''].filter((path) => path !== '').join(delimiter);
  return { ...env, ...Object.fromEntries(names.map((name) => [name, folders(name)])) };
}
