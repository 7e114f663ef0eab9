// What CI says of a run.

import type { ResponseOf } from '#contract/endpoint.ts';
import { safeHref } from '../name.ts';
import { Icon } from './icon.tsx';
import { checkLook } from './state.tsx';

export type TestRun = ResponseOf<'listMergeQueueTestingResults'>['testingResults'][number];

type Check = {
  readonly name: string;
  readonly url: string;
  readonly state: string;
  readonly isRequired: boolean;
};

/** Required ones first; those that nobody has reported yet too. */
function checksOf(run: TestRun): readonly Check[] {
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

export function Checks({ run }: { readonly run: TestRun }) {
  const checks = checksOf(run);
  if (checks.length === 0) return null;
  return (
    <ul className="checks" aria-label="Checks">
      {checks.map(({ name, url, state, isRequired }) => {
        const { icon, word, tone } = checkLook(state);
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
              {word}
              {!isRequired && ', not required'}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
