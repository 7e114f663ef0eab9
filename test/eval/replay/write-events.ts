// Writes uploads as JSON lines. A suite is defined once, before the first upload that names it.

import type { ReplayUpload, Suite, TestName, TestResult } from './upload.ts';

export function createEventWriter(write: (line: string) => void): (upload: ReplayUpload) => void {
  const defined = new Set<Suite>();
  return (upload) => {
    const { suite } = upload;
    if (suite !== null && !defined.has(suite)) {
      defined.add(suite);
      write(JSON.stringify({ suite: suite.id, tests: suite.tests.map(nameToJson) }));
    }
    write(JSON.stringify(uploadToJson(upload)));
  };
}

/** What is empty, or as it is by default, is left out. */
function uploadToJson(upload: ReplayUpload): Record<string, unknown> {
  const { at, repository, job, shard, variant, branch, branchClass, prNumber, head, tested } = upload;
  return {
    at: new Date(at).toISOString(),
    repository,
    job,
    shard: shard || undefined,
    variant: variant || undefined,
    branch,
    branchClass,
    pullRequest: prNumber ?? undefined,
    head,
    tested,
    complete: upload.isComplete ? undefined : false,
    trusted: upload.isTrusted ? undefined : false,
    suite: upload.suite?.id,
    missing: upload.missing.length === 0 ? undefined : upload.missing.map(nameToJson),
    tests: upload.results.map(resultToJson),
  };
}

export function nameToJson({ file, classname, parent, name }: TestName): string | Record<string, unknown> {
  if (file === '' && classname === '' && parent === '') return name;
  return { file: file || undefined, classname: classname || undefined, parent: parent || undefined, name };
}

function resultToJson({ test, outcome, failures }: TestResult): unknown {
  const name = nameToJson(test);
  if (outcome === 'passed') return name;
  const fields = typeof name === 'string' ? { name } : name;
  if (outcome === 'skipped') return { ...fields, outcome };
  const failed = failures.map(({ type, message, body }) => ({
    outcome: 'failed',
    type: type || undefined,
    message: message || undefined,
    body: body || undefined,
  }));
  const attempts = failed.length === 0 ? [{ outcome: 'failed' }] : failed;
  return { ...fields, attempts: outcome === 'flaky' ? [...attempts, { outcome: 'passed' }] : attempts };
}
