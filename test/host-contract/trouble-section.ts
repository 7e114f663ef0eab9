import { describe, expect, it } from 'vitest';
import { HostError } from '#host/host.ts';
import { type Contract, leaks, type Workplace } from './contract.ts';
import { rateLimitPauseMs, type Trouble } from './world.ts';

type Calls = Readonly<Record<string, () => Promise<unknown>>>;

/** What the host is asked for. Of the others a host may have its own idea of what it means to be forbidden them. */
async function callsOf(place: Workplace, host = place.host) {
  const { repository } = place;
  const { number, sha, branch } = await place.propose({ 'a.txt': 'a' });
  const query = { repository, number };
  const words = { title: 'T', message: '' };
  const comment = { id: null, mayExist: true, mark: 'm', body: 'b' };
  const check = {
    name: 'n',
    state: 'pending',
    title: 't',
    summary: '',
    url: 'http://q.example',
    number,
    actions: [],
  } as const;
  const wish = { branch, baseBranch: 'main', title: 'T', body: '' };
  return {
    reads: {
      readPullRequest: () => host.readPullRequest(query),
      readChecks: () => host.readChecks(repository, sha),
      readCommentsAndLabels: () => host.readCommentsAndLabels(repository, new Date(), 'submit'),
    },
    writes: {
      writeComment: () => host.writeComment(repository, number, comment),
      writeCheck: () => host.writeCheck(repository, sha, check),
      changeLabels: () => host.changeLabels(repository, number, { add: ['a'], remove: ['b'] }),
      openTestPullRequest: () => host.openTestPullRequest(repository, wish),
    },
    others: {
      readRequiredChecks: () => host.readRequiredChecks(repository, 'main'),
      permissionOf: () => host.permissionOf(repository, 'grace'),
      inspect: () => host.inspect(repository, 'main'),
      merge: () => host.merge({ ...query, ...words, targetBranch: 'main', method: 'squash', headSha: sha }),
    },
  };
}

export function troubleSection({ world, needs, openPlace }: Contract): void {
  /** What each call throws while the host is in trouble, by its name. */
  const errorsDuring = (trouble: Trouble, calls: Calls) =>
    world().during(trouble, () =>
      Promise.all(
        Object.entries(calls).map(([name, call]) =>
          call().then(
            () => [name, null] as const,
            (error: unknown) => [name, error] as const,
          ),
        ),
      ),
    );

  const sortsOf = (errors: readonly (readonly [string, unknown])[]) =>
    errors.map(([name, error]) => `${name}: ${error instanceof HostError ? error.trouble : String(error)}`);

  describe('trouble', () => {
    it.for([
      ['answers with 503', 'serverError', 'unavailable'],
      ['does not answer', 'silence', 'unavailable'],
      ['refuses connections', 'refusedConnection', 'unavailable'],
      ['wants fewer questions', 'rateLimit', 'rate_limited'],
    ] as const)('with a host that %s is told as what it is, and ends with it', async (row, context) => {
      const [, trouble, sort] = row;
      needs(context, trouble);
      // Only silence lasts as long as we wait.
      const host = trouble === 'silence' ? world().impatient : world().host;
      const { reads, writes, others } = await callsOf(await openPlace(), host);
      const calls = { ...reads, ...writes, ...others };
      const errors = await errorsDuring(trouble, calls);
      expect(sortsOf(errors)).toEqual(Object.keys(calls).map((name) => `${name}: ${sort}`));
      expect(leaks(world(), errors)).toBe(false);
      expect(await reads.readPullRequest()).toMatchObject({ state: 'open' });
    });

    it('with a host that wants fewer questions comes with the pause that it asks for', async (context) => {
      needs(context, 'rateLimit');
      const { reads } = await callsOf(await openPlace());
      const [[, error] = []] = await errorsDuring('rateLimit', { read: reads.readPullRequest });
      const { retryAfterMs } = error as HostError;
      expect(retryAfterMs).toBeGreaterThan(rateLimitPauseMs - 3_000);
      expect(retryAfterMs).toBeLessThanOrEqual(rateLimitPauseMs + 1_000);
    });

    it('with a host that forbids us something is told apart from what is not there', async (context) => {
      needs(context, 'forbidding');
      const { reads, writes } = await callsOf(await openPlace());
      const calls = { ...reads, ...writes };
      const errors = await errorsDuring('forbidding', calls);
      expect(sortsOf(errors)).toEqual(Object.keys(calls).map((name) => `${name}: forbidden`));
      expect(leaks(world(), errors)).toBe(false);
      expect(await reads.readPullRequest()).toMatchObject({ state: 'open' });
    });

    it('is never taken for the absence of a repository', async (context) => {
      needs(context, 'absentRepositories', 'serverError');
      const { host, repository } = await openPlace();
      const { organizationId } = repository;
      const find = () => host.findRepository(organizationId, repository);
      expect(sortsOf(await errorsDuring('serverError', { find }))).toEqual(['find: unavailable']);
      expect(await find()).not.toBeNull();
    });
  });

  describe('asking twice', () => {
    it('costs nothing where nothing has changed, and tells what has', async (context) => {
      needs(context, 'conditionalRequests');
      const place = await openPlace();
      const { number, sha } = await place.propose({ 'a.txt': 'a' });
      await place.report(sha, { name: 'ci/test', state: 'pending' });
      await place.readSettled(number);
      const read = async () => ({
        pullRequest: await place.read(number),
        checks: await place.host.readChecks(place.repository, sha),
      });
      const first = await read();
      let again: unknown;
      const used = await world().quotaUsedBy(async () => {
        again = await read();
      });
      expect(used).toBe(0);
      expect(again).toEqual(first);
      await place.report(sha, { name: 'ci/test', state: 'success' });
      expect((await read()).checks).toMatchObject([{ name: 'ci/test', state: 'success' }]);
    });
  });
}
