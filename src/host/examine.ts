// Asks a Git host everything about a repository and a branch that the doctor judges. It may take a dozen calls.

import { diagnose, workflowQuestion } from './doctor.ts';
import { listUntriggered } from './doctor-workflow.ts';
import type { DoctorInput } from './doctor-input.ts';
import type { Finding } from './finding.ts';
import type { Host, HostRepository, Inspection } from './host.ts';
import { landingWay, resolveLandingMode } from './landing-mode.ts';

type Examination = {
  readonly findings: readonly Finding[];
  /** Paths of the workflows of required checks that nothing starts for test branches. */
  readonly untriggered: readonly string[];
  readonly inspection: Inspection;
};

export async function examine(
  host: Host,
  repository: HostRepository,
  { queue, webhookUrls }: Pick<DoctorInput, 'queue' | 'webhookUrls'>,
): Promise<Examination> {
  const { targetBranch: branch } = queue;
  const { mergeMethod: method } = queue.settings;
  const lands = resolveLandingMode(host, queue.settings, method);
  const inspection = await host.inspect(repository, branch);
  const findings = diagnose({
    inspection,
    rules: await host.readRules(repository, branch, { method, way: landingWay(lands) }),
    queue,
    lands,
    isShownAsMerged: host.showsPushedAsMerged(method),
    webhookUrls,
  });
  const untriggered = listUntriggered(workflowQuestion(inspection, queue)).map(({ path }) => path);
  return { findings, untriggered, inspection };
}
