// What may be shown to a person is in the guide: every reason, every warning of the log, and every setting of a queue.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reasons } from '#core/queue/reason.ts';
import { defaultSettings } from '#core/queue/settings.ts';
import { errorRegistry } from '#base/error.ts';

const guide = readFileSync('docs/how-to/troubleshooting.md', 'utf8');

describe('the guide to troubleshooting', () => {
  it.each(reasons)('has %s', (reason) => {
    expect(guide).toContain(`\`${reason}\``);
  });

  it('has every warning and error of the log', () => {
    const files = execFileSync('git', ['ls-files', 'src/**/*.ts', 'src/*.ts'], { encoding: 'utf8' })
      .trim()
      .split('\n');
    const said = files
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) => [
        ...readFileSync(file, 'utf8').matchAll(/log\.(?:warn|error)\(\s*(?:\{[^}]*\}|\w+),\s*'([^']+)'/g),
      ])
      .map(([, message]) => message!);
    expect(said.length).toBeGreaterThan(10);
    expect(said.filter((message) => !guide.includes(message))).toEqual([]);
  });

  it('names no error that there is not', () => {
    const section = guide.slice(
      guide.indexOf('## A call is refused'),
      guide.indexOf('## The service does not start'),
    );
    const named = [...section.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, code]) => code!);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((code) => !(code in errorRegistry))).toEqual([]);
  });
});

it('the page on tuning has a section for every setting of a queue', () => {
  const page = readFileSync('docs/how-to/tuning.md', 'utf8');
  const sections = [...page.matchAll(/^### `(\w+)`$/gm)].map(([, name]) => name!);
  expect(sections.toSorted()).toEqual(Object.keys(defaultSettings).toSorted());
});
