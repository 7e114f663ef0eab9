import fc from 'fast-check';
import { v5 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { caseIdentity } from '#core/health/identity.ts';
import { createIdentifier, uuidText } from './test-identity.ts';

const uuidOf = (text: string): string => v5(text, v5.URL);
const repository = { host: 'host', owner: 'owner', name: 'name' };

describe('the id of a case, as bytes', () => {
  it('is the known answer of the contract', () => {
    const identify = createIdentifier({ organizationSlug: 'org_slug', repository, variant: '' });
    const found = {
      file: 'file',
      classname: 'class_name',
      parent: 'parent_name',
      name: 'test_name',
      ownId: null,
      variant: '',
    };
    expect(uuidText(identify(found))).toBe('aad1f138-09ab-5ea9-9c21-af48a03d6edd');
  });

  it('is what core says, for any names, variants and ids that reports give', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 50 });
    const found = fc.record({
      file: text,
      classname: text,
      parent: text,
      name: fc.oneof(text, fc.constant('ä€😀'.repeat(4_000)), fc.constant('x'.repeat(16_000))),
      ownId: fc.option(text.map(uuidOf), { nil: null }),
      variant: fc.constantFrom('', 'chromium'),
    });
    fc.assert(
      fc.property(found, fc.constantFrom('', 'linux'), text, (one, variant, organizationSlug) => {
        const context = { organizationSlug, repository, variant };
        expect(uuidText(createIdentifier(context)(one))).toBe(caseIdentity(one, context, uuidOf).id);
      }),
    );
  });
});
