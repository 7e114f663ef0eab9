// The programs of a real Gitea: the server and its CI runner, built from their Go modules and kept outside of the
// repository by version, so that they are built once on a machine. `node test/gitea/build.ts` builds what is missing.
//
// The module mirror of the machines that this was written on does not have everything. Of Gitea 1.27 it lacks
// dependencies (gitea.dev/actions-proto-go, gitea.dev/sdk, GitLab's client-go/v2); 1.26.4 is the newest that builds.
// Of the runner it has v1.0.8, on which Gitea 1.27 itself depends and which speaks the runner protocol of 1.26. Both
// are named exactly: the mirror refuses to list the versions of some modules, so "latest" cannot be asked for.
import { builtFolder, buildOnce, type GoProgram } from '../support/go-program.ts';

const server: GoProgram = {
  module: 'code.gitea.io/gitea',
  version: '1.26.4',
  package: '.',
  binary: 'gitea',
  tags: 'sqlite sqlite_unlock_notify',
  versionVariable: 'main.Version',
  // Gitea's own build packs the style sheets into one. A browser takes them as they are, but for classes of Tailwind's.
  assets: [
    ['templates', 'templates'],
    ['options', 'options'],
    ['public', 'public'],
    ['web_src/css', 'public/assets/css'],
    ['web_src/css/themes', 'public/assets/css'],
  ],
  builtBy: 'node test/gitea/build.ts',
};

const runner: GoProgram = {
  module: 'gitea.com/gitea/runner',
  version: '1.0.8',
  package: '.',
  binary: 'gitea-runner',
  tags: 'WITHOUT_DOCKER',
  versionVariable: 'gitea.com/gitea/runner/internal/pkg/ver.version',
  assets: [],
  builtBy: 'node test/gitea/build.ts',
};

/** The folder with the binary `gitea` and the templates and texts that it reads. */
export const giteaFolder = (): string => builtFolder(server);

/** The folder with the binary `gitea-runner`. */
export const runnerFolder = (): string => builtFolder(runner);

/** Builds what is not there yet. */
export async function buildPrograms(): Promise<void> {
  for (const program of [server, runner]) await buildOnce(program);
}

if (import.meta.main) await buildPrograms();
