import { v5 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { testCaseId, type TestIdentity } from './identity.ts';

const uuidOf = (text: string): string => v5(text, v5.URL);

const known: TestIdentity = {
  organizationSlug: 'org_slug',
  repository: { host: 'host', owner: 'owner', name: 'name' },
  file: 'file',
  classname: 'class_name',
  parent: 'parent_name',
  name: 'test_name',
  variant: '',
};

describe('the id of a test', () => {
  it('is the known answer of the contract', () => {
    expect(testCaseId(known, uuidOf)).toBe('aad1f138-09ab-5ea9-9c21-af48a03d6edd');
  });

  it('hashes the parts in their order, joined by #', () => {
    const texts: string[] = [];
    testCaseId(known, (text) => `${texts.push(text)}`);
    expect(texts).toEqual(['org_slug#host/owner/name#file#class_name#parent_name#test_name#JUNIT_TESTCASE']);
  });

  it('applies the variant twice: in the parts, and over the id that those make', () => {
    const texts: string[] = [];
    const id = testCaseId({ ...known, variant: 'linux' }, (text) => `id-${texts.push(text)}`);
    expect(texts).toEqual([
      'org_slug#host/owner/name#file#class_name#parent_name#test_name#JUNIT_TESTCASE#linux',
      'id-1#linux',
    ]);
    expect(id).toBe('id-2');
  });

  it('with a variant is that of the contract’s formula', () => {
    const inner = uuidOf(
      'org_slug#host/owner/name#file#class_name#parent_name#test_name#JUNIT_TESTCASE#linux',
    );
    expect(testCaseId({ ...known, variant: 'linux' }, uuidOf)).toBe(uuidOf(`${inner}#linux`));
  });

  it('takes absent parts as empty, not as left out', () => {
    const bare = { ...known, file: '', classname: '', parent: '' };
    expect(testCaseId(bare, uuidOf)).toBe(uuidOf('org_slug#host/owner/name####test_name#JUNIT_TESTCASE'));
  });

  it('takes the whole owner of a nested group', () => {
    const repository = { host: 'host', owner: 'group/sub', name: 'name' };
    expect(testCaseId({ ...known, repository }, (text) => text)).toContain('#host/group/sub/name#');
  });

  it('is another for each part that differs', () => {
    const others: readonly Partial<TestIdentity>[] = [
      { organizationSlug: 'x' },
      { repository: { ...known.repository, host: 'x' } },
      { repository: { ...known.repository, owner: 'x' } },
      { repository: { ...known.repository, name: 'x' } },
      { file: 'x' },
      { classname: 'x' },
      { parent: 'x' },
      { name: 'x' },
      { variant: 'x' },
    ];
    const ids = [{}, ...others].map((other) => testCaseId({ ...known, ...other }, uuidOf));
    expect(new Set(ids).size).toBe(others.length + 1);
  });
});
