// Why a test that should be quarantined is not, and what to do about it.

import type { HeldBackReason } from '#core/health/quarantine/quarantine-contract.ts';

const texts = {
  CRITICAL: 'It is critical by the settings of the repository, and critical tests are never quarantined.',
  CAP_TESTS:
    'As many tests are quarantined as the settings allow. Fix some of them, or raise the number in the settings.',
  CAP_SHARE:
    'As large a share of the tests is quarantined as the settings allow. Fix some of them, or raise the share in the settings.',
  ENDED:
    'Its automatic quarantine ended while the test was still flaky. Fix the test, or save its quarantine again for a new end.',
} satisfies { readonly [Reason in HeldBackReason]: string };

/** Empty: there is no such reason. */
export const heldBackText = (reason: string): string =>
  (texts as Readonly<Record<string, string>>)[reason] ?? '';
