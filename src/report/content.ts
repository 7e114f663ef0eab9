import type { ReportedCase, UploadProblem } from '#core/health/reported-case.ts';
import type { ContentLimits } from './limits.ts';
import type { BundleMeta } from './meta.ts';
import { openReport } from './report.ts';

export type ContentHandlers = {
  readonly onMeta?: (meta: BundleMeta) => void;
  readonly onCodeowners?: (text: string) => void;
  /** `file`: the report's path, as in `UploadProblem`. */
  readonly onCase: (found: ReportedCase, file: string) => void;
};

export type ContentSummary = {
  readonly form: 'bundle' | 'report';
  /** Reports that were read, with or without cases. */
  readonly reports: number;
  readonly cases: number;
  /** False: something was cut off, so tests may be missing. */
  readonly isComplete: boolean;
  readonly problems: readonly UploadProblem[];
};

export async function readContent(
  bytes: AsyncIterable<Uint8Array>,
  handlers: ContentHandlers,
  limits: Partial<ContentLimits> = {},
): Promise<ContentSummary> {
  const report = openReport('', (found) => handlers.onCase(found, ''), limits);
  for await (const chunk of bytes) report.write(chunk);
  const { cases, isComplete, problems } = report.end();
  return { form: 'report', reports: 1, cases, isComplete, problems };
}
