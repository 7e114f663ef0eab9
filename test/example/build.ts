// The checker of workflows, built from its Go module and kept outside of the repository by version, so that it is built
// once on a machine. `node test/example/build.ts` builds it if it is missing.
import { join } from 'node:path';
import { buildOnce, builtFolder, type GoProgram } from '../support/go-program.ts';

const actionlint: GoProgram = {
  module: 'github.com/rhysd/actionlint',
  version: '1.7.12',
  package: './cmd/actionlint',
  binary: 'actionlint',
  tags: '',
  versionVariable: 'github.com/rhysd/actionlint.version',
  assets: [],
  builtBy: 'node test/example/build.ts',
};

export const actionlintBinary = (): string => join(builtFolder(actionlint), 'actionlint');

if (import.meta.main) await buildOnce(actionlint);
