// `signalbox doctor`: checks access to a repository, its webhook and its branch rules, and prints how to fix each problem.

import { parseArgs } from 'node:util';
import { countText } from '#base/number-text.ts';
import { recordTriggerProposal } from '#command/propose-triggers.ts';
import type { Cells } from '#db/cell.ts';
import { defaultSettings } from '#core/queue/settings.ts';
import { findConnectionHook } from '#db/account/connection-store.ts';
import { findOrganization } from '#db/account/organization-store.ts';
import { listQueues } from '#db/queue/queue-view.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import { hookUrls } from '#host/connection.ts';
import { examine } from '#host/examine.ts';
import type { Finding } from '#host/finding.ts';
import { type HostFor, HostError } from '#host/host.ts';
import { accessUsage, findKindByName, hostKindNames, hostKinds } from '#host/kinds.ts';
import { proposeTriggers, type TriggerProposal } from '#host/trigger-proposal.ts';
import { isSandboxHost } from '#host/sandbox/host.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { byCommandLine } from './auditor.ts';

const usage = `Usage: signalbox doctor <slug> --repo host/owner/name [--branch main] [--json | --propose-triggers]

Connects to the Git host, reports each check of the repository, and prints how to fix the failed ones.
Exits with status 1 if a check failed. With --propose-triggers it instead opens a pull request that makes the
workflows of the required checks run for test branches.`;

const marks: { readonly [Verdict in Finding['verdict']]: string } = {
  right: 'ok     ',
  warning: 'warning',
  wrong: 'FAILED ',
};

/** What `admin connect` needs there. Many host names do not show the kind of the host: then all are listed. */
function connectUsageFor(hostName: string): string {
  const known = findKindByName(hostName.toLowerCase());
  return (known === null ? hostKindNames : [known])
    .map((name) => `--kind ${name} ${accessUsage(hostKinds[name].access[0]!)}`)
    .join(', or ');
}

function fail(code: number, message: string): number {
  console.error(message);
  return code;
}

/** Returns the exit code: 0 nothing is wrong, 1 something is, 2 wrong usage. */
export async function doctor(
  cells: Cells,
  hostFor: HostFor,
  publicUrl: string,
  args: readonly string[],
): Promise<number> {
  const options = {
    repo: { type: 'string' },
    branch: { type: 'string' },
    json: { type: 'boolean' },
    'propose-triggers': { type: 'boolean' },
  } as const;
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    return fail(2, `${(error as Error).message}\n\n${usage}`);
  }
  const [slug = ''] = parsed.positionals;
  const [host = '', owner = '', name = '', ...rest] = (parsed.values.repo ?? '').split('/');
  if (slug === '' || name === '' || rest.length > 0) return fail(2, usage);
  const branch = parsed.values.branch ?? 'main';
  for (const cell of cells.all) {
    const organizationId = await findOrganization(cell.db, slug);
    if (organizationId === null) continue;
    const connection = await findConnectionHook(cell.db, organizationId, host.toLowerCase());
    const adapter = hostFor(cell.name, host);
    if (connection === null || adapter === null || isSandboxHost(adapter))
      return fail(
        1,
        `The organization ${slug} is not connected to ${host}. Connect it with: signalbox admin connect ${slug} --url https://${host} ${connectUsageFor(host)}`,
      );
    try {
      const found = await adapter.findRepository(organizationId, { host, owner, name });
      const repository = await ensureRepository(cell.db, organizationId, {
        ...(found ?? { host, owner, name }),
        isSandbox: false,
      });
      const queues = await listQueues(cell.db, repository.id);
      const known = queues.find(({ targetBranch }) => targetBranch === branch);
      const queue = known ?? { targetBranch: branch, settings: defaultSettings };
      const place = { ...repository, organizationId };
      if (parsed.values['propose-triggers'] === true) {
        const proposal = await proposeTriggers(adapter, place, queue);
        const { pullRequest } = proposal;
        if (pullRequest?.isNew === true)
          await recordTriggerProposal(cell.db, byCommandLine(organizationId), place, branch, pullRequest.url);
        return printProposal(proposal);
      }
      const webhookUrls = hookUrls(publicUrl, cell.name, connection);
      const { findings } = await examine(adapter, place, { queue, webhookUrls });
      if (parsed.values.json === true) console.log(JSON.stringify(findings));
      else print(findings);
      return findings.some(({ verdict }) => verdict === 'wrong') ? 1 : 0;
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      return fail(1, `${marks.wrong}  ${error.message}`);
    }
  }
  return fail(
    1,
    `There is no organization ${slug}. Create it with: signalbox admin create-organization ${slug}`,
  );
}

function print(findings: readonly Finding[]): void {
  for (const { verdict, what, fix } of findings) {
    console.log(`${marks[verdict]}  ${what}`);
    if (fix !== null) console.log(`         → ${fix}`);
  }
  const wrong = findings.filter(({ verdict }) => verdict === 'wrong').length;
  console.log(wrong === 0 ? 'No check failed.' : `${countText(wrong, 'check')} failed.`);
}

/** Returns the exit code: 1 if a file is left to change. */
function printProposal({ pullRequest, byHand }: TriggerProposal): number {
  if (pullRequest !== null)
    console.log(
      pullRequest.isNew
        ? `Opened ${pullRequest.url}. Merge it, so that CI runs for test branches.`
        : `The pull request is open already: ${pullRequest.url}`,
    );
  for (const { path, reason, editorUrl, text, isWholeFile } of byHand) {
    console.log(`${plainLine(path)} was not changed. ${plainLine(reason, 1_000)}`);
    console.log(
      `Change it${editorUrl === null ? '' : ` at ${plainLine(editorUrl, 1_000)}`}. ${isWholeFile ? 'The whole file:' : 'Add these lines:'}\n\n${text
        .split('\n')
        .map((line) => plainLine(line, 10_000))
        .join('\n')}`,
    );
  }
  if (pullRequest === null && byHand.length === 0)
    console.log(
      'Nothing to change: every workflow of a required check that Signalbox finds runs for test branches.',
    );
  return byHand.length === 0 ? 0 : 1;
}
