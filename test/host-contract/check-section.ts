import { describe, expect, it } from 'vitest';
import type { Check } from '#core/queue/check.ts';
import { type Contract, eventually, type Workplace } from './contract.ts';

const stateOf = (check: Check): string =>
  check.kind === 'status' ? check.state : (check.conclusion ?? check.status);

/** What CI says of a commit, as `name state`. */
const checksOf = async ({ host, repository }: Workplace, sha: string): Promise<readonly string[]> =>
  (await host.readChecks(repository, sha)).map((check) => `${check.name} ${stateOf(check)}`).toSorted();

/** A commit status has no word for what was cancelled. */
const shows = ([status]: readonly { readonly state: string }[], state: string): boolean =>
  status?.state === state || (state === 'cancelled' && status?.state === 'error');

export function checkSection({ world, needs, openPlace }: Contract): void {
  describe('the protection of a branch', () => {
    it('requires nothing that anybody knows of where there is none', async () => {
      const { host, repository } = await openPlace();
      expect(await host.readRequiredChecks(repository, 'main')).toBeNull();
    });

    it('requires the checks that it names, for as long as it is there', async () => {
      const { host, repository, protect } = await openPlace();
      await protect('main', { requiredChecks: ['ci/test', 'ci/lint'] });
      const required = await host.readRequiredChecks(repository, 'main');
      expect(required?.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
        { name: 'ci/lint', source: null },
        { name: 'ci/test', source: null },
      ]);
      const { protection } = await host.inspect(repository, 'main');
      expect(protection?.requiredChecks.toSorted()).toEqual(['ci/lint', 'ci/test']);
      expect(protection).toMatchObject({ letsUsPush: true, letsUsMerge: true, needsUpToDate: false });
      await protect('main', null);
      expect(await host.readRequiredChecks(repository, 'main')).toBeNull();
    });

    it('keeps us from pushing where only others may', async (context) => {
      needs(context, 'restrictedPushes');
      const place = await openPlace();
      const { host, repository } = place;
      const tip = await place.tipOf('main');
      const sha = await place.push('change', { 'a.txt': 'a' });
      const mirror = await place.mirror();
      await mirror.fetch({ branch: 'change', pulls: [] });
      await place.protect('main', { requiredChecks: [], pushers: [world().author] });
      expect((await host.inspect(repository, 'main')).protection).toMatchObject({ letsUsPush: false });
      const answer = await mirror.push([{ ref: 'refs/heads/main', from: tip, to: sha }]);
      expect(answer).toMatchObject({ kind: 'refused', message: expect.stringMatching(/\S/) as unknown });
      expect(await place.tipOf('main')).toBe(tip);
    });
  });

  describe('CI', () => {
    it('says nothing of a commit that it has not seen, nor of another', async () => {
      const place = await openPlace();
      const [first, second] = [
        await place.push('one', { 'a.txt': '1' }),
        await place.push('two', { 'a.txt': '2' }),
      ];
      await place.report(first, { name: 'ci/test', state: 'success' });
      expect(await checksOf(place, first)).toEqual(['ci/test success']);
      expect(await checksOf(place, second)).toEqual([]);
    });

    it('says whether each check is pending, has passed, has failed or could not be run', async () => {
      const place = await openPlace();
      const sha = await place.push('change', { 'a.txt': 'a' });
      const states = ['pending', 'success', 'failure', 'error'] as const;
      for (const state of states) await place.report(sha, { name: `ci/${state}`, state });
      expect(await checksOf(place, sha)).toEqual(states.map((state) => `ci/${state} ${state}`).toSorted());
      const checks = await place.host.readChecks(place.repository, sha);
      expect(checks.every(({ at }) => Math.abs(Date.now() - at) < 600_000)).toBe(true);
    });

    it('has the last word last', async () => {
      const place = await openPlace();
      const sha = await place.push('change', { 'a.txt': 'a' });
      for (const state of ['pending', 'failure', 'success', 'pending', 'error'] as const) {
        await place.report(sha, { name: 'ci/test', state });
        expect(await checksOf(place, sha)).toEqual([`ci/test ${state}`]);
      }
    });

    it('reports more checks than fit on a page', async () => {
      const place = await openPlace();
      const sha = await place.push('change', { 'a.txt': 'a' });
      const names = Array.from({ length: 120 }, (_, index) => `ci/${String(index).padStart(3, '0')}`);
      for (const name of names) await place.report(sha, { name, state: 'success' });
      expect(await checksOf(place, sha)).toEqual(names.map((name) => `${name} success`));
    });

    it('begins and ends check runs in a suite', async (context) => {
      needs(context, 'checkRuns');
      const place = await openPlace();
      const sha = await place.push('change', { 'a.txt': 'a' });
      await place.reportRun(sha, { name: 'build', conclusion: null });
      const begun = await place.host.readChecks(place.repository, sha);
      expect(begun).toMatchObject([
        { kind: 'check', name: 'build', status: 'in_progress', conclusion: null },
      ]);
      await place.reportRun(sha, { name: 'build', conclusion: 'failure' });
      const ended = await place.host.readChecks(place.repository, sha);
      expect(ended).toMatchObject([{ kind: 'check', status: 'completed', conclusion: 'failure' }]);
      expect(ended[0]).toHaveProperty('suite', expect.stringMatching(/./));
    });
  });

  describe('our own check', () => {
    it('is shown on the head, as one check that changes', async () => {
      const place = await openPlace();
      const { sha } = await place.propose({ 'a.txt': 'a' });
      const words = {
        name: 'Signalbox (main)',
        title: 'Queued',
        summary: '**2** ahead',
        url: 'http://q.example/1',
        number: 1,
        actions: [],
      };
      for (const state of ['pending', 'failure', 'cancelled', 'success'] as const) {
        await place.host.writeCheck(place.repository, sha, { ...words, state });
        const shown = await eventually(
          () => place.listStatuses(sha),
          (statuses) => shows(statuses, state),
        );
        expect(shown).toMatchObject([{ name: words.name }]);
        expect(shows(shown, state)).toBe(true);
      }
    });

    it('does not hide what CI says', async () => {
      const place = await openPlace();
      const { sha } = await place.propose({ 'a.txt': 'a' });
      const words = {
        name: 'Signalbox',
        title: 'Failed',
        summary: '',
        url: 'http://q.example/1',
        number: 1,
        actions: [],
      };
      await place.report(sha, { name: 'ci/test', state: 'success' });
      await place.host.writeCheck(place.repository, sha, { ...words, state: 'failure' });
      expect(await checksOf(place, sha)).toContain('ci/test success');
    });
  });
}
