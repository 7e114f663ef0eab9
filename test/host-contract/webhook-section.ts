import { describe, expect, it } from 'vitest';
import type { HostEvent } from '#core/queue/host-event.ts';
import { repositoryKey } from '#core/repository.ts';
import { type Contract, eventually, leaks, type Workplace } from './contract.ts';
import type { Delivery } from './world.ts';

type Of<Kind extends HostEvent['kind']> = Extract<HostEvent, { kind: Kind }>;

export function webhookSection({ world, needs, openPlace }: Contract): void {
  const parsed = ({ headers, body }: Delivery, secret = world().webhookSecret) =>
    world().host.parseWebhook({ headers, body, secret });

  /** What was told of a place, from one of the deliveries on. */
  const eventsOf = ({ repository }: Workplace, from: number): readonly HostEvent[] =>
    world()
      .deliveries.slice(from)
      .flatMap((delivery) => {
        const result = parsed(delivery);
        if (result.kind === 'refused') throw new Error(`a real delivery was refused: ${result.reason}`);
        return result.events;
      })
      .filter((event) => isOf(event, repository));

  const isOf = (event: HostEvent, repository: Workplace['repository']): boolean => {
    const [told, wanted] = [repositoryKey(event.repository), repositoryKey(repository)];
    return told.host === wanted.host && told.owner === wanted.owner && told.name === wanted.name;
  };

  /** The events of a kind that something causes, as soon as one is as wished. */
  const heard = async <Kind extends HostEvent['kind']>(
    place: Workplace,
    kind: Kind,
    isWished: (event: Of<Kind>) => boolean,
    act: () => Promise<unknown>,
  ): Promise<Of<Kind> | undefined> => {
    const from = world().deliveries.length;
    await act();
    const isOne = (event: HostEvent): event is Of<Kind> => event.kind === kind && isWished(event as Of<Kind>);
    const events = await eventually(
      () => eventsOf(place, from),
      (all) => all.some(isOne),
    );
    return events.find(isOne);
  };

  describe('a webhook', () => {
    it('tells that a pull request was opened, and of which repository', async () => {
      const place = await openPlace();
      let number = 0;
      const isIt = (event: Of<'pull-request-changed'>) => event.number === number;
      const told = await heard(place, 'pull-request-changed', isIt, async () => {
        ({ number } = await place.propose({ 'a.txt': 'a' }));
      });
      const { host, owner, name } = place.repository;
      expect(told).toMatchObject({ kind: 'pull-request-changed', repository: { host, owner, name }, number });
    });

    it('tells that a pull request was pushed to, closed, opened again, moved or made a draft', async () => {
      const place = await openPlace();
      await place.push('release', { 'r.txt': 'r' });
      const { number, branch } = await place.propose({ 'a.txt': 'a' });
      const acts: readonly (readonly [string, () => Promise<unknown>])[] = [
        ['push', () => place.push(branch, { 'a.txt': 'b' })],
        ['close', () => place.changePullRequest(number, { state: 'closed' })],
        ['reopen', () => place.changePullRequest(number, { state: 'open' })],
        ['retarget', () => place.changePullRequest(number, { base: 'release' })],
        ['draft', () => place.changePullRequest(number, { draft: true })],
        ['ready', () => place.changePullRequest(number, { draft: false })],
      ];
      for (const [name, act] of acts) {
        const told = await heard(place, 'pull-request-changed', (event) => event.number === number, act);
        expect([name, told?.number]).toEqual([name, number]);
      }
    });

    it('tells where a branch is, whoever moved it, and that it is gone', async () => {
      const place = await openPlace();
      const { host, owner, name } = place.repository;
      const repository = { host, owner, name };
      for (const text of ['made', 'moved']) {
        let sha = '';
        const isIt = (event: Of<'branch-moved'>) => event.sha === sha;
        const told = await heard(place, 'branch-moved', isIt, async () => {
          sha = await place.push('feature/x', { 'a.txt': text });
        });
        expect(told).toMatchObject({ kind: 'branch-moved', repository, branch: 'feature/x', sha });
      }
      const isGone = (event: Of<'branch-moved'>) => event.sha === null;
      const gone = await heard(place, 'branch-moved', isGone, () => place.deleteBranch('feature/x'));
      expect(gone).toMatchObject({ kind: 'branch-moved', repository, branch: 'feature/x', sha: null });
      const { number, sha: headSha } = await place.propose({ 'b.txt': 'b' });
      await place.readSettled(number);
      const words = { title: 'Merge', message: '', targetBranch: 'main', method: 'squash' } as const;
      const landed = await heard(
        place,
        'branch-moved',
        (event) => event.branch === 'main',
        () => place.host.merge({ repository: place.repository, number, headSha, ...words }),
      );
      expect(landed?.sha).toBe(await place.tipOf('main'));
    });

    it('tells what CI says', async () => {
      const place = await openPlace();
      const sha = await place.push('change', { 'a.txt': 'a' });
      for (const state of ['pending', 'success', 'failure', 'error'] as const) {
        const told = await heard(
          place,
          'check-changed',
          ({ check }) => check.kind === 'status' && check.state === state,
          () => place.report(sha, { name: 'ci/test', state }),
        );
        expect(told).toMatchObject({ sha, check: { kind: 'status', name: 'ci/test', state } });
      }
    });

    it('tells of check runs', async (context) => {
      needs(context, 'checkRuns');
      const place = await openPlace();
      const sha = await place.push('change', { 'a.txt': 'a' });
      for (const conclusion of [null, 'success'] as const) {
        const told = await heard(
          place,
          'check-changed',
          ({ check }) => check.kind === 'check' && check.conclusion === conclusion,
          () => place.reportRun(sha, { name: 'build', conclusion }),
        );
        expect(told).toMatchObject({ sha, check: { kind: 'check', name: 'build', conclusion } });
      }
    });

    it('tells what somebody wrote on a pull request', async () => {
      const place = await openPlace();
      await place.grant('grace', 'write');
      const { number } = await place.propose({ 'a.txt': 'a' });
      const text = '/merge “now”\n\nplease';
      let commentId = '';
      const told = await heard(
        place,
        'comment-written',
        () => true,
        async () => {
          commentId = await place.comment('grace', number, text);
        },
      );
      expect(told).toMatchObject({ kind: 'comment-written', number, commentId, author: 'grace', text });
    });

    it('tells that a label was put on, and that it was taken off', async () => {
      const place = await openPlace();
      const { number } = await place.propose({ 'a.txt': 'a' });
      for (const isOn of [true, false]) {
        const told = await heard(
          place,
          'label-changed',
          ({ labels }) => labels.includes('submit') === isOn,
          () => place.label(number, 'submit', isOn),
        );
        expect(told).toMatchObject({ number, labels: isOn ? ['submit'] : [] });
        expect(['submit', null]).toContain(told?.label);
      }
    });

    it('says nothing of a comment that was edited', async () => {
      const place = await openPlace();
      await place.grant('grace', 'write');
      const { number } = await place.propose({ 'a.txt': 'a' });
      const from = world().deliveries.length;
      const id = await place.comment('grace', number, 'Looks good to me.');
      await place.editComment(number, id, '/merge --force');
      // Webhooks come in order: what is written after the edit shows that the edit was delivered, or never will be.
      await heard(
        place,
        'comment-written',
        ({ text }) => text === 'Last.',
        () => place.comment('grace', number, 'Last.'),
      );
      const written = eventsOf(place, from).filter(({ kind }) => kind === 'comment-written');
      expect(written).toMatchObject([{ text: 'Looks good to me.' }, { text: 'Last.' }]);
    });
  });

  describe('a webhook that is not the host’s', () => {
    const real = async (): Promise<Delivery> => {
      const place = await openPlace();
      const from = world().deliveries.length;
      await place.push('change', { 'a.txt': 'a' });
      const [delivery] = await eventually(
        () => world().deliveries.slice(from),
        (all) => all.length > 0,
      );
      return delivery!;
    };
    const without = (headers: Delivery['headers'], left: readonly string[]) =>
      Object.fromEntries(Object.entries(headers).filter(([name]) => !left.includes(name)));

    it('is refused, however it is forged, and nothing of ours is told', async () => {
      const { headers, body } = await real();
      const { signatureHeaders, headersFor } = world();
      expect(parsed({ headers, body })).toMatchObject({ kind: 'accepted' });
      const signed = (value: string) =>
        Object.fromEntries(signatureHeaders.flatMap((name) => (name in headers ? [[name, value]] : [])));
      const forged: Record<string, Delivery> = {
        'another body': { headers, body: Buffer.from(body.toString('utf8').replace('"', ' "')) },
        'a truncated body': { headers, body: body.subarray(0, -1) },
        'no body': { headers, body: Buffer.alloc(0) },
        'no signature': { headers: without(headers, signatureHeaders), body },
        'an empty signature': { headers: { ...headers, ...signed('') }, body },
        'a signature that is none': { headers: { ...headers, ...signed('sha256=é') }, body },
        'another secret': { headers: { ...headers, ...headersFor('push', body, 'another secret') }, body },
      };
      const answers = Object.entries(forged).map(([name, delivery]) => [name, parsed(delivery)] as const);
      expect(answers.map(([name, { kind }]) => `${name}: ${kind}`)).toEqual(
        Object.keys(forged).map((name) => `${name}: refused`),
      );
      expect(leaks(world(), answers)).toBe(false);
      expect(parsed({ headers, body }, 'another secret')).toMatchObject({ kind: 'refused' });
    });

    it.each([
      ['of a kind that we do not know', 'something_new', '{"action":"invented"}'],
      ['without what we need of it', 'pull_request', '{}'],
      ['that is no JSON', 'push', 'not { json'],
      ['that is a list', 'push', '[]'],
    ])('says nothing if it is signed and %s', (_what, event, text) => {
      const body = Buffer.from(text);
      const headers = world().headersFor(event, body, world().webhookSecret);
      expect(parsed({ headers, body })).toEqual({ kind: 'accepted', events: [] });
    });
  });
}
