// `signalbox webhook …`: manages webhook endpoints and shows the result of each delivery. For admins.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { RepositoryName } from '#core/repository.ts';
import type { Api } from '../client/api.ts';
import { openApi, withConnection, withJson } from '../client/connection.ts';
import { parseRepository } from '../client/place.ts';
import { type AddCommand, type Given, withExamples } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { penFor, printJson, printLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';

const asList = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...text.split(',').map((part) => part.trim()),
];
const asRepositories = (text: string, before: readonly RepositoryName[] = []): readonly RepositoryName[] => [
  ...before,
  parseRepository(text),
];

function asInstant(text: string): string {
  const at = new Date(text);
  if (Number.isNaN(at.getTime()))
    throw new InvalidArgumentError('It is not a date. Use for example 2026-11-15T08:00:00Z.');
  return at.toISOString();
}

type WebhookEndpointOptions = {
  readonly name?: string;
  readonly address?: string;
  readonly events?: readonly string[];
  readonly repo?: readonly RepositoryName[];
};

/** The options of an endpoint, as the API takes them; `all` means no limit. */
const buildEndpointRequest = ({ name, address, events, repo }: WebhookEndpointOptions) => ({
  ...(name === undefined ? {} : { name }),
  ...(address === undefined ? {} : { url: address }),
  ...(events === undefined ? {} : { eventTypes: events.includes('all') ? [] : [...events] }),
  ...(repo === undefined ? {} : { repositories: [...repo] }),
});

/** Finds an endpoint by its id, the beginning of its id, or its name. */
async function findEndpoint(api: Api, text: string) {
  const { endpoints } = await api.call('listWebhookEndpoints', {});
  const found = endpoints.filter(
    ({ id, name }) => name === text || (text.length >= 8 && id.startsWith(text)),
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw new CliError(
    found.length === 0
      ? `There is no webhook endpoint ${plainLine(text)}. List them with: signalbox webhook list`
      : `Several webhook endpoints are called ${plainLine(text)}. Use the id of one, from: signalbox webhook list`,
  );
}

type WebhookCommandAction = (api: Api, given: Given) => Promise<number>;

const findEndpointId = async (api: Api, { args }: Given): Promise<string> =>
  (await findEndpoint(api, String(args[0]))).id;

type WebhookCommandGroup = {
  /** Adds a command with the common options. */
  readonly add: (name: string, summary: string) => Command;
  readonly on: (command: Command, act: WebhookCommandAction) => void;
};

export const addWebhook: AddCommand = ({ program, context, run }) => {
  const family = program
    .command('webhook')
    .description('send events to programs and chat channels, and inspect the deliveries');
  const kin: WebhookCommandGroup = {
    add: (name, summary) => withJson(withConnection(family.command(name).description(summary))),
    on: (command, act) => run(command, async (given) => act(await openApi(context, given.options), given)),
  };
  addEndpoints(kin);
  addSecrets(kin);
  addDeliveries(kin);
};

const limits = (command: Command) =>
  command
    .option('--events <types>', 'comma-separated event types to send; all sends every type', asList)
    .option(
      '--repo <host/owner/name>',
      'send events of this repository only; can be repeated',
      asRepositories,
    );

function addEndpoints({ add, on }: WebhookCommandGroup): void {
  const list = add('list', 'list the webhook endpoints with the last result of each');
  withExamples(list, { line: 'signalbox webhook list', does: 'list the endpoints' });
  on(list, listAll);

  const create = limits(
    add('create', 'create a webhook endpoint').argument('<address>', 'https:// URL that receives the events'),
  )
    .requiredOption('--name <name>', 'name of the endpoint')
    .option('--kind <kind>', 'webhook (signed, for programs), slack or teams', 'webhook');
  withExamples(create, {
    line: 'signalbox webhook create https://hooks.example/signalbox --name Deploys --events pull_request.merged',
    does: 'send an event for each merged pull request, and print the signing secret once',
  });
  on(create, createOne);

  const update = limits(
    add('update', 'change a webhook endpoint').argument('<endpoint>', 'id or name of the endpoint'),
  )
    .option('--name <name>', 'new name')
    .option('--address <url>', 'new URL')
    .option('--all-repositories', 'send events of every repository')
    .option('--disable', 'stop sending events')
    .option('--enable', 'resume sending events');
  withExamples(update, {
    line: 'signalbox webhook update Deploys --disable',
    does: 'stop sending events to this endpoint for now',
  });
  on(update, updateOne);

  const remove = add('delete', 'delete a webhook endpoint').argument(
    '<endpoint>',
    'id or name of the endpoint',
  );
  withExamples(remove, { line: 'signalbox webhook delete Deploys', does: 'delete the endpoint' });
  on(remove, async (api, given) => {
    const answer = await api.call('deleteWebhookEndpoint', { endpointId: await findEndpointId(api, given) });
    return said(given, answer, ['Deleted the webhook endpoint. Signalbox sends no more events to it.']);
  });
}

function addSecrets({ add, on }: WebhookCommandGroup): void {
  const rotate = add('rotate', 'replace the signing secret; the previous one stays valid for a day').argument(
    '<endpoint>',
    'id or name of the endpoint',
  );
  withExamples(rotate, { line: 'signalbox webhook rotate Deploys', does: 'print the new secret once' });
  on(rotate, async (api, given) => {
    const answer = await api.call('rotateWebhookSecret', { endpointId: await findEndpointId(api, given) });
    const until = `Until ${answer.previousUntil}, events are also signed with the previous secret.`;
    return said(given, answer, [`New signing secret, shown only once: ${answer.signingSecret}`, until]);
  });

  const test = add('test', 'send a test event and report the result').argument(
    '<endpoint>',
    'id or name of the endpoint',
  );
  withExamples(test, {
    line: 'signalbox webhook test Deploys',
    does: 'exit with status 0 if the endpoint accepted the event',
  });
  on(test, sendTest);
}

function addDeliveries({ add, on }: WebhookCommandGroup): void {
  const deliveries = add('deliveries', 'list deliveries, newest first')
    .argument('<endpoint>', 'id or name of the endpoint')
    .option('--state <state>', 'only deliveries that are pending, delivered or dead')
    .option('--take <count>', 'number of deliveries', '25');
  withExamples(deliveries, {
    line: 'signalbox webhook deliveries Deploys --state dead',
    does: 'list the deliveries that failed for good',
  });
  on(deliveries, listDeliveries);

  const replay = add('replay', 'send deliveries again, with their original ids')
    .argument('<endpoint>', 'id or name of the endpoint')
    .argument('[delivery]', 'id of one delivery')
    .option('--since <time>', 'send every delivery since this time', asInstant)
    .option('--failed', 'with --since: only deliveries that failed for good');
  withExamples(replay, {
    line: 'signalbox webhook replay Deploys --since 2026-11-15T08:00:00Z --failed',
    does: 'send the deliveries again that failed for good since 08:00 UTC',
  });
  on(replay, replaySome);
}

function said({ options }: Given, answer: unknown, lines: readonly string[]): number {
  if (options['json'] === true) printJson(answer);
  else printLines(lines);
  return 0;
}

async function listAll(api: Api, given: Given): Promise<number> {
  const answer = await api.call('listWebhookEndpoints', {});
  const { endpointLines } = await import('./webhook-view.ts');
  return said(given, answer, endpointLines(answer.endpoints, penFor(process.stdout), new Date()));
}

async function createOne(api: Api, given: Given): Promise<number> {
  const { kind, name, ...endpointOptions } = given.options as WebhookEndpointOptions & {
    readonly kind: string;
    readonly name: string;
  };
  if (kind !== 'webhook' && kind !== 'slack' && kind !== 'teams')
    throw new CliError(`${plainLine(kind)} is not a valid --kind. Use webhook, slack or teams.`, 'usage');
  const made = { kind, name, url: String(given.args[0]) } as const;
  const answer = await api.call('createWebhookEndpoint', {
    ...buildEndpointRequest(endpointOptions),
    ...made,
  });
  const { endpoint, signingSecret: secret } = answer;
  return said(given, answer, [
    `Signalbox sends events to ${plainLine(endpoint.url)} (${endpoint.id}).`,
    ...(secret === null ? [] : [`Signing secret, shown only once: ${secret}`]),
    `Test it with: signalbox webhook test ${endpoint.id}`,
  ]);
}

async function updateOne(api: Api, given: Given): Promise<number> {
  const { disable, enable, allRepositories } = given.options;
  if (disable === true && enable === true)
    throw new CliError('--enable and --disable exclude each other. Use one of them.', 'usage');
  const answer = await api.call('updateWebhookEndpoint', {
    endpointId: await findEndpointId(api, given),
    ...buildEndpointRequest(given.options as WebhookEndpointOptions),
    ...(allRepositories === true ? { repositories: null } : {}),
    ...(disable === true || enable === true ? { enabled: enable === true } : {}),
  });
  const { endpointLines } = await import('./webhook-view.ts');
  return said(given, answer, endpointLines([answer.endpoint], penFor(process.stdout), new Date()));
}

/** The time that an endpoint may take to answer, and a margin. */
const testMs = 45_000;

async function sendTest(api: Api, given: Given): Promise<number> {
  const endpointId = await findEndpointId(api, given);
  const { deliveryId } = await api.call('sendTestWebhook', { endpointId });
  for (const endsAt = Date.now() + testMs; Date.now() < endsAt; await sleep(300)) {
    const { deliveries } = await api.call('listWebhookDeliveries', { endpointId, deliveryId });
    const attempt = deliveries[0]?.attempts.at(-1);
    if (attempt === undefined) continue;
    const { error, status, ms } = attempt;
    if (error !== null)
      throw new CliError(
        `The endpoint did not accept the test event: ${plainLine(error)}. Check the endpoint, then send it again.`,
      );
    return said(given, deliveries[0], [`The endpoint accepted the test event: ${status} after ${ms} ms.`]);
  }
  throw new CliError(
    'The test event was not sent within 45 s. Check that a worker runs and that the endpoint is enabled.',
  );
}

async function listDeliveries(api: Api, given: Given): Promise<number> {
  const { state, take } = given.options as { readonly state?: string; readonly take: string };
  if (state !== undefined && state !== 'pending' && state !== 'delivered' && state !== 'dead')
    throw new CliError(
      `${plainLine(state)} is not a valid --state. Use pending, delivered or dead.`,
      'usage',
    );
  const count = Number(take);
  if (!Number.isInteger(count) || count < 1 || count > 100)
    throw new CliError(`${plainLine(take)} is not a valid --take. Use a number from 1 to 100.`, 'usage');
  const deliveriesRequest = {
    endpointId: await findEndpointId(api, given),
    take: count,
    ...(state === undefined ? {} : { state }),
  };
  const answer = await api.call('listWebhookDeliveries', deliveriesRequest);
  const { deliveryLines } = await import('./webhook-view.ts');
  return said(given, answer, deliveryLines(answer.deliveries, penFor(process.stdout), new Date()));
}

async function replaySome(api: Api, given: Given): Promise<number> {
  const { since, failed } = given.options as { readonly since?: string; readonly failed?: boolean };
  const deliveryId = given.args[1] as string | undefined;
  if ((deliveryId === undefined) === (since === undefined))
    throw new CliError('Which deliveries? Name one delivery, or use --since with a time, not both.', 'usage');
  const answer = await api.call('replayWebhookDelivery', {
    endpointId: await findEndpointId(api, given),
    ...(deliveryId === undefined ? { since, failedOnly: failed ?? false } : { deliveryId }),
  });
  return said(given, answer, [
    `${answer.replayed} ${answer.replayed === 1 ? 'delivery' : 'deliveries'} will be sent again.`,
  ]);
}
