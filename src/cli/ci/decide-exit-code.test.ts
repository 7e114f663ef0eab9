import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideExitCode, type ExitCodeEvidence, type ClassifiedUpload } from './decide-exit-code.ts';

const excused = { outcome: 'failed', quarantined: true, is_excused: true } as const;

const upload: ClassifiedUpload = {
  state: 'ingested',
  failed: 1,
  usual_tests: 140,
  missing_tests: 0,
  is_suspect: false,
  is_complete: true,
  failures: [excused],
};

const flakedOnly: ExitCodeEvidence = {
  ending: { kind: 'exited', code: 1 },
  failureCodes: [1],
  missingPercentMax: 1,
  isNarrowed: false,
  reports: { files: 2, unread: 0, failed: 1 },
  classification: { kind: 'classified', upload },
};

const classified = (other: Partial<ClassifiedUpload>): Partial<ExitCodeEvidence> => ({
  classification: { kind: 'classified', upload: { ...upload, ...other } },
});

describe('the exit code', () => {
  it('becomes 0 when only quarantined tests failed, as they are known to', () => {
    expect(decideExitCode(flakedOnly)).toEqual({
      exitCode: 0,
      isChanged: true,
      why: '1 failed test, known to be flaky and quarantined; nothing else failed.',
    });
  });

  it('is that of a command that succeeded, whatever the service says', () => {
    const ending = { kind: 'exited', code: 0 } as const;
    const classification = { kind: 'absent', why: 'The service does not answer.' } as const;
    expect(decideExitCode({ ...flakedOnly, ending, classification })).toMatchObject({
      exitCode: 0,
      isChanged: false,
    });
  });

  const kept: readonly (readonly [string, Partial<ExitCodeEvidence>, RegExp])[] = [
    ['by a signal', { ending: { kind: 'killed', signal: 'SIGSEGV', code: 139 } }, /terminated by SIGSEGV/],
    [
      'with a code of a shell for a signal',
      { ending: { kind: 'exited', code: 137 }, failureCodes: [137] },
      /exited with 137/,
    ],
    ['with a code that means something else', { ending: { kind: 'exited', code: 2 } }, /exited with 2/],
    [
      'with a new test that passed when it was repeated',
      { isRepeated: true, reports: { files: 2, unread: 0, failed: 2 } },
      /passed when it was repeated/,
    ],
    ['without a report', { reports: { files: 0, unread: 0, failed: 0 } }, /wrote no test report/],
    [
      'with a report that is cut off',
      { reports: { files: 2, unread: 1, failed: 1 } },
      /1 report could not be read/,
    ],
    ['without a failed test', { reports: { files: 2, unread: 0, failed: 0 } }, /something else failed/],
    ['while the service is unreachable', { classification: { kind: 'absent', why: 'Away.' } }, /Away/],
    ['before the service has classified the failures', classified({ state: 'stored' }), /has not classified/],
    ['when the service could use nothing', classified({ state: 'failed' }), /has not classified/],
    ['when the service read a part', classified({ is_complete: false }), /reports completely/],
    ['in a mass failure', classified({ is_suspect: true }), /Far more tests failed/],
    ['when the service saw no failure', classified({ failed: 0, failures: [] }), /found no failed test/],
    ['when not every failure is listed', classified({ failed: 201 }), /only 1 of 201/],
    [
      'with a failed test that is not quarantined',
      classified({ failed: 2, failures: [excused, { ...excused, quarantined: false }] }),
      /1 of 2 failed tests is not quarantined/,
    ],
    [
      'with a quarantined test that fails in a new way',
      classified({ failures: [{ ...excused, is_excused: false }] }),
      /was not flaky before/,
    ],
    [
      'when tests are missing',
      classified({ missing_tests: 50 }),
      /50 of the 140 tests that usually run did not/,
    ],
    [
      'when it is not known which tests usually run',
      classified({ usual_tests: null, missing_tests: null }),
      /too few runs/,
    ],
  ];

  it.each(kept)('is kept: %s', (_name, other, why) => {
    const evidence = { ...flakedOnly, ...other };
    const decision = decideExitCode(evidence);
    expect(decision).toMatchObject({ exitCode: evidence.ending.code, isChanged: false });
    expect(decision.why).toMatch(why);
  });

  it('is changed for other codes only if an option names them', () => {
    const ending = { kind: 'exited', code: 100 } as const;
    expect(decideExitCode({ ...flakedOnly, ending }).exitCode).toBe(100);
    expect(decideExitCode({ ...flakedOnly, ending, failureCodes: [1, 100] }).exitCode).toBe(0);
  });

  it('does not depend on tests that passed in another attempt', () => {
    const retried = { outcome: 'flaky', quarantined: false, is_excused: false } as const;
    expect(decideExitCode({ ...flakedOnly, ...classified({ failures: [retried, excused] }) }).exitCode).toBe(
      0,
    );
    expect(decideExitCode({ ...flakedOnly, ...classified({ failures: [retried] }) }).exitCode).toBe(1);
  });

  it('tolerates as many missing tests as the option allows', () => {
    const some = classified({ missing_tests: 2 });
    expect(decideExitCode({ ...flakedOnly, ...some }).exitCode).toBe(1);
    expect(decideExitCode({ ...flakedOnly, ...some, missingPercentMax: 2 }).exitCode).toBe(0);
    expect(decideExitCode({ ...flakedOnly, ...classified({ missing_tests: 1 }) }).exitCode).toBe(0);
  });

  it('does not depend on missing tests in a run of selected tests', () => {
    const some = classified({ usual_tests: null, missing_tests: null });
    expect(decideExitCode({ ...flakedOnly, ...some }).exitCode).toBe(1);
    expect(decideExitCode({ ...flakedOnly, ...some, isNarrowed: true }).exitCode).toBe(0);
  });

  it('is never changed unless every failed test is excused and nothing is uncertain', () => {
    const mostly = <T>(usual: T, other: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
    const yes = mostly(true, fc.constant(false));
    const failures = fc.array(
      fc.record({ outcome: fc.constant('failed' as const), quarantined: yes, is_excused: yes }),
      {
        minLength: 1,
        maxLength: 3,
      },
    );
    const anyUpload = failures.chain((listed) =>
      fc.record<ClassifiedUpload>({
        state: mostly<ClassifiedUpload['state']>('ingested', fc.constantFrom('awaited', 'stored', 'failed')),
        failed: mostly(listed.length, fc.nat(5)),
        usual_tests: mostly<number | null>(140, fc.option(fc.nat(200))),
        missing_tests: mostly<number | null>(0, fc.option(fc.nat(200))),
        is_suspect: mostly(false, fc.constant(true)),
        is_complete: yes,
        failures: fc.constant(listed),
      }),
    );
    const anyEvidence = fc.record({
      code: mostly(1, fc.constantFrom(0, 2, 137)),
      isKilled: mostly(false, fc.constant(true)),
      reports: fc.record({
        files: mostly(2, fc.nat(1)),
        unread: mostly(0, fc.nat(1)),
        failed: mostly(1, fc.nat(1)),
      }),
      upload: mostly<ClassifiedUpload | null>(upload, fc.constant(null)).chain((one) =>
        one === null ? fc.constant(null) : anyUpload,
      ),
    });
    const changed = { yes: 0, no: 0 };
    fc.assert(
      fc.property(anyEvidence, ({ code, isKilled, reports, upload }) => {
        const { exitCode, isChanged } = decideExitCode({
          ending: isKilled ? { kind: 'killed', signal: 'SIGKILL', code } : { kind: 'exited', code },
          failureCodes: [1, 137],
          missingPercentMax: 10,
          isNarrowed: false,
          reports,
          classification: upload === null ? { kind: 'absent', why: 'Away.' } : { kind: 'classified', upload },
        });
        const isCertain =
          !isKilled &&
          code === 1 &&
          reports.files > 0 &&
          reports.unread === 0 &&
          reports.failed > 0 &&
          upload !== null &&
          upload.state === 'ingested' &&
          upload.is_complete &&
          !upload.is_suspect &&
          upload.failed === upload.failures.length &&
          upload.failures.every((one) => one.quarantined && one.is_excused) &&
          upload.usual_tests !== null &&
          upload.missing_tests !== null &&
          upload.missing_tests <= Math.floor(upload.usual_tests / 10);
        expect({ exitCode, isChanged }).toEqual({ exitCode: isCertain ? 0 : code, isChanged: isCertain });
        changed[isChanged ? 'yes' : 'no'] += 1;
      }),
      { numRuns: 3_000 },
    );
    expect(Math.min(changed.yes, changed.no)).toBeGreaterThan(300);
  });
});
