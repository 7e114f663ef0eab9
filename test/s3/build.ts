// An S3-compatible server for tests: the Versity gateway, over a folder. Of those that can be built from their Go modules
// alone it is the one that is made to stand in for S3 in earnest: it checks signatures, knows uploads in parts, and
// writes as it reads. `node test/s3/build.ts` builds it if it is missing; that takes about two minutes on two cores.
import { builtFolder, buildOnce, type GoProgram } from '../support/go-program.ts';

const server: GoProgram = {
  module: 'github.com/versity/versitygw',
  version: '1.8.0',
  package: './cmd/versitygw',
  binary: 'versitygw',
  tags: '',
  versionVariable: 'main.Version',
  assets: [],
  builtBy: 'node test/s3/build.ts',
};

/** The folder with the binary `versitygw`. */
export const s3Folder = (): string => builtFolder(server);

if (import.meta.main) await buildOnce(server);
