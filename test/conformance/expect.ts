/** The assertions of the suite over one answer, each a sentence with what was asked, expected and got. */
import { brief } from './check.ts';
import { show, type Answer } from './client.ts';
import { pick, pickList } from './json.ts';
import type { World } from './world.ts';

export function expectOk(world: World, name: string, answer: Answer): boolean {
  return world.recorder.check(
    name,
    answer.status === 200,
    `asked ${answer.asked}; expected 200, got ${show(answer)}`,
  );
}

/** Success with nothing to say. */
export function expectEmpty(world: World, name: string, answer: Answer): boolean {
  const ok = answer.status === 200 && JSON.stringify(answer.json) === '{}';
  return world.recorder.check(name, ok, `asked ${answer.asked}; expected 200 {}, got ${show(answer)}`);
}

export function expectError(
  world: World,
  name: string,
  answer: Answer,
  status: number,
  ...codes: readonly string[]
): boolean {
  const code = pick(answer.json, 'error', 'code');
  const ok = answer.status === status && typeof code === 'string' && codes.includes(code);
  const expected = `${status} ${codes.join(' or ')}`;
  return world.recorder.check(name, ok, `asked ${answer.asked}; expected ${expected}, got ${show(answer)}`);
}

/** 400 VALIDATION_FAILED whose details name every one of these paths (or something inside of them). */
export function expectInvalid(
  world: World,
  name: string,
  answer: Answer,
  ...paths: readonly string[]
): boolean {
  const details = pickList(answer.json, 'error', 'details');
  const wellFormed = details.every(
    (detail) => typeof pick(detail, 'path') === 'string' && typeof pick(detail, 'message') === 'string',
  );
  const reported = details.map((detail) => String(pick(detail, 'path')));
  const missing = paths.filter(
    (path) => !reported.some((r) => r === path || r.startsWith(`${path}.`) || r.startsWith(`${path}[`)),
  );
  const isRefused = answer.status === 400 && pick(answer.json, 'error', 'code') === 'VALIDATION_FAILED';
  const expected = `400 VALIDATION_FAILED with details for ${paths.join(', ')}`;
  return world.recorder.check(
    name,
    isRefused && wellFormed && missing.length === 0,
    `asked ${answer.asked}; expected ${expected}${missing.length > 0 ? ` (missing: ${missing.join(', ')})` : ''}, got ${show(answer)}`,
  );
}

/** Asserts that the value under `keys` of a successful answer is `expected`. */
export function expectField(
  world: World,
  name: string,
  answer: Answer,
  keys: readonly (string | number)[],
  expected: unknown,
): boolean {
  return world.recorder.equal(
    name,
    pick(answer.json, ...keys),
    expected,
    `asked ${answer.asked} (${answer.status}); ${keys.join('.')}:`,
  );
}

/** Asserts that a hand-written shape finds nothing wrong. */
export function expectShape(
  world: World,
  name: string,
  problems: readonly string[],
  value: unknown,
): boolean {
  return world.recorder.check(
    name,
    problems.length === 0,
    `${problems.join('; ')}; got ${brief(value, 900)}`,
  );
}
