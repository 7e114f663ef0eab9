import { expect, it } from 'vitest';
import { versionFrom } from './version.ts';

it.each([
  ['1.26.0', 'Gitea', '1.26.0'],
  ['1.27.0+dev-12-gabcdef', 'Gitea', '1.27.0'],
  ['11.0.3+gitea-1.22.0', 'Forgejo', '11.0.3'],
  ['13.0.0-dev-7-abc+gitea-1.22.0', 'Forgejo', '13.0.0-dev-7-abc'],
])('%s is %s %s', (text, name, number) => {
  expect(versionFrom(text)).toEqual({ name, number });
});
