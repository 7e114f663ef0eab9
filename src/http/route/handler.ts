// Every operation with its handler.

import type { Endpoint } from '#contract/endpoint/endpoint-type.ts';
import { endpoints, type Operation } from '#contract/endpoint/endpoint.ts';
import type { Handler } from '../endpoint/context.ts';
import type { Deps } from '../deps.ts';
import { accuracyHandlers } from './accuracy.ts';
import { appRegistrationHandlers } from './app-registration.ts';
import { auditHandlers } from './audit.ts';
import { diagnosisHandlers } from './diagnosis.ts';
import { fixHandlers } from './fix.ts';
import { organizationHandlers } from './organization.ts';
import { pullRequestHandlers } from './pull-request.ts';
import { quarantineHandlers } from './quarantine.ts';
import { quarantineListHandlers } from './quarantine-list.ts';
import { queueHandlers } from './queue.ts';
import { queueHistoryHandlers } from './queue-history.ts';
import { sandboxHandlers } from './sandbox.ts';
import { settingsTrialHandlers } from './settings-trial.ts';
import { searchHandlers } from './search.ts';
import { testHealthHandlers } from './test-health.ts';
import { testHistoryHandlers } from './test-history.ts';
import { testRenameHandlers } from './test-rename.ts';
import { testingHandlers } from './testing.ts';
import { hostConnectionHandlers } from './host-connection.ts';
import { tokenHandlers } from './token.ts';
import { webhookHandlers } from './webhook.ts';
import { uploadHandlers } from './upload.ts';

export type OperationHandler = readonly [operation: Operation, handler: Handler<Operation>];

export function handlersFor({ sandbox }: Pick<Deps['config'], 'sandbox'>): readonly OperationHandler[] {
  const handlers = {
    ...pullRequestHandlers,
    ...queueHandlers,
    ...diagnosisHandlers,
    ...queueHistoryHandlers,
    ...testingHandlers,
    ...searchHandlers,
    ...testHealthHandlers,
    ...testHistoryHandlers,
    ...testRenameHandlers,
    ...quarantineHandlers,
    ...quarantineListHandlers,
    ...fixHandlers,
    ...settingsTrialHandlers,
    ...accuracyHandlers,
    ...uploadHandlers,
    ...organizationHandlers,
    ...tokenHandlers,
    ...hostConnectionHandlers,
    ...appRegistrationHandlers,
    ...webhookHandlers,
    ...auditHandlers,
    ...(sandbox === 'off' ? {} : sandboxHandlers),
  };
  return Object.entries(handlers) as [Operation, Handler<Operation>][];
}

/** Whether its body is not JSON. */
export const isRaw = ([operation]: OperationHandler): boolean =>
  (endpoints[operation] as Endpoint).body !== undefined;
