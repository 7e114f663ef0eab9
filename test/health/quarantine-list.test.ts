// The quarantine of a repository as a file: exported, changed by a person, imported.
import { describe, expect, it } from 'vitest';
import { formatQuarantineFile, parseQuarantineFile } from '#cli/test-health/quarantine-file.ts';
import { dayMs } from '#base/duration.ts';
import { openWorldForTest, widgets } from '../support/harness.ts';

const asked = { repo: widgets, org_url_slug: 'acme' };

async function openListWorld() {
  const world = await openWorldForTest();
  const admin = await world.client();
  const put = async (testCases: readonly object[]) =>
    (await admin.call('sandboxPutTestCases', { repo: widgets, testCases })).testCases.map(({ id }) => id);
  await put([{ name: 'steady', status: 'healthy' }]);
  await admin.call('updateHealthSettings', { ...asked, settings: { quarantine: { enabled: true } } });
  const set = (id: string, change: object) =>
    admin.call('setQuarantine', { ...asked, test_case_id: id, ...change });
  const exported = async () =>
    formatQuarantineFile((await admin.call('exportQuarantine', asked)).tests, 'sandbox.example/acme/widgets');
  const imported = async (text: string, dry_run = false) =>
    admin.call('importQuarantine', {
      ...asked,
      tests: await parseQuarantineFile(text, 'quarantine.yaml'),
      dry_run,
    });
  return { world, admin, put, set, exported, imported };
}

describe('the file of quarantines', () => {
  it('changes nothing when it is imported as it was exported, whatever tests and notes are called', async () => {
    const { admin, put, set, exported, imported } = await openListWorld();
    const names = [
      '- "quoted": #no',
      "it's *alias &anchor",
      '日本\u0000?!'.replace('\u0000', ''),
      'yes',
      '1e3',
      '%~',
    ];
    const ids = await put(names.map((name) => ({ name, status: 'healthy', codeowners: ['@acme/track'] })));
    for (const [index, id] of ids.entries())
      await set(id, {
        quarantine_setting: index % 2 === 0 ? 'ALWAYS_QUARANTINE' : 'NEVER_QUARANTINE',
        owner: '@ada: #x',
        note: `null ${names[index]}`,
      });
    const [flaky] = await put([{ name: 'flaky', status: 'healthy' }]);
    await admin.call('flagTest', { ...asked, test_case_id: flaky!, status: 'flaky' });
    const text = await exported();
    expect(text).toContain('quarantine: automatic');
    expect(await imported(text)).toEqual({ changes: [], unknown_test_ids: [], ended_test_ids: [] });
    expect(await exported()).toBe(text);
  });

  it('is applied whole, with the audit log, and a dry run applies nothing', async () => {
    const { world, admin, put, set, imported, exported } = await openListWorld();
    const [one, two] = await put(['one', 'two'].map((name) => ({ name, status: 'healthy' })));
    await set(one!, { quarantine_setting: 'ALWAYS_QUARANTINE', owner: 'ada' });
    const until = new Date(world.clock.now().getTime() + 3 * dayMs).toISOString();
    const text = `version: 1
tests:
  - id: ${two}
    quarantine: always
    until: ${until}
    owner: grace
    ticket: T-7
  - id: 01940000-0000-5000-8000-000000000000
    quarantine: never
`;
    const expected = {
      changes: [
        {
          test_case_id: two,
          name: 'two',
          before: { quarantine_setting: 'AUTO_QUARANTINE', expires_at: null, owner: null, ticket_id: null },
          after: {
            quarantine_setting: 'ALWAYS_QUARANTINE',
            expires_at: until,
            owner: 'grace',
            ticket_id: 'T-7',
          },
        },
        { name: 'one', after: { quarantine_setting: 'AUTO_QUARANTINE', owner: null } },
      ],
      unknown_test_ids: ['01940000-0000-5000-8000-000000000000'],
      ended_test_ids: [],
    };
    const before = await exported();
    expect(await imported(text, true)).toMatchObject(expected);
    expect(await exported()).toBe(before);
    expect(await imported(text)).toMatchObject(expected);
    const { tests } = await admin.call('exportQuarantine', asked);
    expect(tests).toMatchObject([
      { name: 'two', quarantined: true, expires_at: until, owner: 'grace', ticket_id: 'T-7' },
    ]);
    expect((await imported(text)).changes).toEqual([]);
    const { entries } = await admin.call('listAuditLog', { take: 3 });
    expect(entries.map(({ action }) => action).toSorted()).toEqual([
      'test.quarantine',
      'test.quarantine',
      'test.ticket',
    ]);
  });

  it.each([
    ['tests: [', 'is not valid YAML'],
    ['version: 2\ntests: []', 'at version'],
    ['version: 1\ntests: [{id: x, quarantine: always}]', 'at tests.0.id'],
    ['version: 1\ntests: []\nmore: 1', 'is not valid'],
    [`version: 1\ntests: ${'['.repeat(400_000)}`, 'is not valid YAML'],
  ])('that is wrong is refused with what to do: %#', async (text, why) => {
    await expect(parseQuarantineFile(text, 'quarantine.yaml')).rejects.toThrow(why);
  });

  it('is imported by administrators only, names a test once, and stays within its repository', async () => {
    const { world, admin, put } = await openListWorld();
    const reader = await world.client('acme', ['read']);
    const request = { ...asked, tests: [] };
    expect((await reader.refusal('importQuarantine', request, 403)).code).toBe('INSUFFICIENT_SCOPE');
    expect((await reader.call('exportQuarantine', asked)).is_cut).toBe(false);
    const [id] = await put([{ name: 'one', status: 'healthy' }]);
    const entry = { test_case_id: id, quarantine_setting: 'NEVER_QUARANTINE' };
    const twice = { ...request, tests: [entry, entry] };
    expect((await admin.refusal('importQuarantine', twice, 400)).code).toBe('VALIDATION_FAILED');
    const other = { host: 'sandbox.example', owner: 'acme', name: 'other' };
    await admin.call('createQueue', { repo: other, targetBranch: 'main' });
    expect(await admin.call('importQuarantine', { ...request, repo: other, tests: [entry] })).toEqual({
      changes: [],
      unknown_test_ids: [id],
      ended_test_ids: [],
    });
  });
});
