import fc from 'fast-check';
import { v5 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { testCaseId } from '#core/health/identity.ts';
import { createIdentifier, uuidText } from './test-identity.ts';

const uuidOf = (text: string): string => v5(text, v5.URL);
const repository = { host: 'host', owner: 'owner', name: 'name' };
const context = { organizationSlug: 'org_slug', repository, variant: '' };
const found = {
  file: 'file',
  classname: 'class_name',
  parent: 'parent_name',
  name: 'test_name',
  ownId: null as string | null,
  variant: '',
};
const idOf = (one: typeof found, within = context): string => uuidText(createIdentifier(within)(one));

describe('the id of a case in a report', () => {
  it('is the known answer of the contract', () => {
    expect(idOf(found)).toBe('aad1f138-09ab-5ea9-9c21-af48a03d6edd');
  });

  it('has the variant of the upload, or else that of the report', () => {
    const withVariant = testCaseId({ ...context, ...found, variant: 'linux' }, uuidOf);
    expect(idOf({ ...found, variant: 'linux' })).toBe(withVariant);
    expect(idOf({ ...found, variant: 'webkit' }, { ...context, variant: 'linux' })).toBe(withVariant);
  });

  it('is its own where the report gives one, and with a variant the hash of both', () => {
    const ownId = 'A6E84936-3EE9-57D5-B041-AE124896F654';
    const own = ownId.toLowerCase();
    expect(idOf({ ...found, ownId })).toBe(own);
    expect(idOf({ ...found, ownId }, { ...context, variant: 'linux' })).toBe(uuidOf(`${own}#linux`));
  });

  it('is the id of the test, for any names and variants that reports give', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 50 });
    const anyCase = fc.record({
      file: text,
      classname: text,
      parent: text,
      name: fc.oneof(text, fc.constant('ä€😀'.repeat(4_000)), fc.constant('x'.repeat(16_000))),
      ownId: fc.constant(null),
      variant: fc.constantFrom('', 'chromium'),
    });
    fc.assert(
      fc.property(anyCase, fc.constantFrom('', 'linux'), text, (one, variant, organizationSlug) => {
        const identity = { ...one, repository, organizationSlug, variant: variant || one.variant };
        expect(idOf(one, { organizationSlug, repository, variant })).toBe(testCaseId(identity, uuidOf));
      }),
    );
  });
});
