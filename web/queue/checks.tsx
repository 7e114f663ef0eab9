// The results of CI for a run.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { formatCount } from '../format.ts';
import { safeHref } from '../name.ts';
import { Icon } from '../component/icon.tsx';
import { checkPillStyle } from '../component/pill.tsx';

export type TestingResult = ResponseOf<'listMergeQueueTestingResults'>['testingResults'][number];

type RunCheckRow = {
  readonly name: string;
  readonly url: string;
  readonly state: string;
  readonly isRequired: boolean;
};

/** Required checks first, including those that CI has not reported yet. */
function listChecks(run: TestingResult): readonly RunCheckRow[] {
  const reported = [
    ...run.checkSuites.flatMap(({ checkRuns }) =>
      checkRuns.map(({ name, url, status, conclusion }) => ({
        name,
        url,
        state: status === 'COMPLETED' ? (conclusion ?? 'neutral') : status,
      })),
    ),
    ...run.statusChecks.map(({ context, url, state }) => ({ name: context, url, state })),
  ];
  const missing = run.requiredStatuses
    .filter((name) => !reported.some((check) => check.name === name))
    .map((name) => ({ name, url: '', state: 'missing' }));
  return [...reported, ...missing]
    .map((check) => ({ ...check, isRequired: run.requiredStatuses.includes(check.name) }))
    .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/** The checks that failed. */
export const listFailedChecks = (run: TestingResult): readonly RunCheckRow[] =>
  listChecks(run).filter(({ state }) => checkPillStyle(state).tone === 'bad');

/** `2 of 3 checks passed, ci/test failed`. */
export function summarizeChecks(run: TestingResult): string {
  const checks = listChecks(run).map(({ name, state }) => ({ name, tone: checkPillStyle(state).tone }));
  if (checks.length === 0) return 'No check has reported';
  const failed = checks.filter(({ tone }) => tone === 'bad').map(({ name }) => name);
  const passed = checks.filter(({ tone }) => tone === 'good').length;
  const counted =
    passed === checks.length
      ? `${formatCount(passed, 'check')} passed`
      : `${passed} of ${formatCount(checks.length, 'check')} passed`;
  return failed.length === 0 ? counted : `${counted}, ${failed.slice(0, failedNamedMax).join(', ')} failed`;
}

/** Failed checks that a summary names. */
const failedNamedMax = 3;

/** More than these are counted. */
const dotsMax = 8;

/** The same as dots, where there is room for no more. */
export function CheckDots({ run }: { readonly run: TestingResult }) {
  const checks = listChecks(run).map(({ name, state }) => ({ name, ...checkPillStyle(state) }));
  const rest = checks.length - dotsMax;
  const label = checks.map((check) => `${check.name}: ${check.label}`).join(', ');
  return (
    <span className="check-dots" role="img" aria-label={`Checks: ${label || 'none'}`} title={label}>
      {checks.slice(0, dotsMax).map(({ name, tone }) => (
        <span key={name} data-tone={tone} />
      ))}
      {rest > 0 && <span className="small dimmed">+{rest}</span>}
    </span>
  );
}

export function Checks({ run }: { readonly run: TestingResult }) {
  const checks = listChecks(run);
  if (checks.length === 0) return null;
  return (
    <ul className="checks" aria-label="Checks">
      {checks.map(({ name, url, state, isRequired }) => {
        const { icon, label, tone } = checkPillStyle(state);
        const href = safeHref(url);
        return (
          <li key={name} data-tone={tone} className="check">
            <Icon name={icon} size={14} />
            {href === undefined ? (
              name
            ) : (
              <a href={href} target="_blank" rel="noreferrer">
                {name}
              </a>
            )}
            <span>
              {label}
              {!isRequired && ', not required'}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
