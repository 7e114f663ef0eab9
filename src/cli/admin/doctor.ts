// `signalbox doctor`: asks a host about a repository, and says what is right, what is wrong, and the fix.

import { parseArgs } from 'node:util';
import type { Cells } from '#db/cell.ts';
import { defaultSettings } from '#core/queue/settings.ts';
import { findHostConnection } from '#db/connection-store.ts';
import { findOrganization } from '#db/organization-store.ts';
import { listQueues } from '#db/queue-view.ts';
import { ensureRepository } from '#db/repository-store.ts';
import { diagnose } from '#host/doctor.ts';
import type { Finding } from '#host/finding.ts';
import { type HostFor, HostError } from '#host/host.ts';
import { webhookUrl } from './connect.ts';

const usage = `Usage: signalbox doctor <slug> --repo host/owner/name [--branch main] [--json]

Connects to the host and says for a repository what is right, what is wrong, and how to mend it.
Ends with 1 if something is wrong.`;

const marks: { readonly [Verdict in Finding['verdict']]: string } = {
  right: 'ok     ',
  warning: 'warning',
  wrong: 'WRONG  ',
};

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
    const connection = await findHostConnection(cell.db, organizationId, host.toLowerCase());
    const adapter = hostFor(cell.name, host);
    if (connection === null || adapter === null || adapter.kind === 'sandbox')
      return fail(
        1,
        `The organization ${slug} is not connected to ${host}. Connect it with: signalbox admin connect ${slug} --kind gitea --url https://${host} --token-file FILE`,
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
      const { landingMode, mergeMethod } = queue.settings;
      const auto = adapter.showsPushedAsMerged(mergeMethod) ? 'fast_forward' : 'host';
      const lands = landingMode === 'auto' ? auto : landingMode;
      const place = { ...repository, organizationId };
      const way = lands === 'host' ? 'merge' : 'push';
      const findings = diagnose({
        inspection: await adapter.inspect(place, branch),
        rules: await adapter.readRules(place, branch, { method: mergeMethod, way }),
        queue,
        lands,
        isShownAsMerged: adapter.showsPushedAsMerged(mergeMethod),
        webhookUrl: webhookUrl(publicUrl, cell, connection.id),
      });
      if (parsed.values.json === true) console.log(JSON.stringify(findings));
      else print(findings);
      return findings.some(({ verdict }) => verdict === 'wrong') ? 1 : 0;
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      return fail(1, `${marks.wrong}  ${error.message}`);
    }
  }
  return fail(1, `There is no organization ${slug}.`);
}

function print(findings: readonly Finding[]): void {
  for (const { verdict, what, fix } of findings) {
    console.log(`${marks[verdict]}  ${what}`);
    if (fix !== null) console.log(`         → ${fix}`);
  }
  const wrong = findings.filter(({ verdict }) => verdict === 'wrong').length;
  console.log(
    wrong === 0 ? 'Nothing is wrong.' : `${wrong} ${wrong === 1 ? 'thing is' : 'things are'} wrong.`,
  );
}
