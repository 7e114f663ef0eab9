import { describe, expect, it } from 'vitest';
import type { FileProposal, ProposalAnswer } from '#host/proposal.ts';
import type { Contract, Workplace } from './contract.ts';

const path = '.github/workflows/ci.yml';
const other = '.github/workflows/more.yaml';
const text = `on:\n  push: { branches: ["main"] } # “ä”\njobs:\n  test: { steps: [] }\n`;
const branch = 'signalbox-trigger/main';

/** As the doctor reads it. */
async function readFiles({ host, repository }: Workplace) {
  const { workflows } = await host.inspect(repository, 'main');
  return (workflows ?? []).toSorted((a, b) => a.path.localeCompare(b.path));
}

async function proposalOf(place: Workplace, change: Partial<FileProposal> = {}): Promise<FileProposal> {
  const files = (await readFiles(place)).map((file) => ({ ...file, text: `${file.text}# more\n` }));
  return { branch, baseBranch: 'main', title: 'Run CI', body: 'Because.', files, ...change };
}

const opened = (answer: ProposalAnswer) => {
  if (answer.kind !== 'open') throw new Error(answer.reason);
  return answer.pullRequest;
};

export function proposalSection({ openPlace }: Contract): void {
  describe('changed files', () => {
    it('are proposed as one pull request, which is found the next time', async () => {
      const place = await openPlace();
      const { host, repository } = place;
      const tip = await place.push('main', { [path]: text, [other]: text });
      const proposal = await proposalOf(place);
      expect(proposal.files.map((file) => file.path)).toEqual([path, other]);
      const { number, url, isNew } = opened(await host.proposeFiles(repository, proposal));
      expect(isNew).toBe(true);
      expect(url).toContain(String(number));
      expect(await place.showPullRequest(number)).toMatchObject({
        state: 'open',
        draft: false,
        title: 'Run CI',
        headSha: await place.tipOf(branch),
      });
      expect(await place.read(number)).toMatchObject({ baseBranch: 'main', fork: null, body: 'Because.' });
      expect(await place.tipOf('main')).toBe(tip);
      expect(await place.git('diff', '--stat', '--format=', 'origin/main', `origin/${branch}`)).toContain(
        '2 files changed, 2 insertions(+)',
      );
      expect(await place.git('show', `origin/${branch}:${path}`)).toBe(`${text}# more`);
      expect(await host.proposeFiles(repository, proposal)).toEqual({
        kind: 'open',
        pullRequest: { number, url, isNew: false },
      });
      expect(await place.listOpen()).toEqual([number]);
    });

    it('are proposed again where that pull request was closed, on the branch as it is now', async () => {
      const place = await openPlace();
      const { host, repository } = place;
      await place.push('main', { [path]: text });
      const first = opened(await host.proposeFiles(repository, await proposalOf(place)));
      await place.changePullRequest(first.number, { state: 'closed' });
      const tip = await place.push('main', { 'm.txt': 'm' });
      const second = opened(await host.proposeFiles(repository, await proposalOf(place)));
      expect(second.number).not.toBe(first.number);
      expect(second.isNew).toBe(true);
      await place.git('fetch', '--quiet', 'origin');
      expect(await place.git('merge-base', 'origin/main', `origin/${branch}`)).toBe(tip);
      expect(await place.git('rev-list', '--count', `origin/main..origin/${branch}`)).toBe('1');
    });

    it('are not proposed where the file is another by now, or the branch is not there', async () => {
      const place = await openPlace();
      const { host, repository } = place;
      await place.push('main', { [path]: text });
      const proposal = await proposalOf(place);
      await place.push('main', { [path]: `# Newer.\n${text}` });
      for (const wish of [proposal, { ...proposal, baseBranch: 'absent' }])
        expect(await host.proposeFiles(repository, wish)).toMatchObject({ kind: 'refused' });
      expect(await place.tipOf(branch)).toBeNull();
      expect(await place.listOpen()).toEqual([]);
    });
  });
}
