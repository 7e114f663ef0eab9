// `signalbox webhook …`: where events are sent, and what came of it. For admins.

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
    throw new InvalidArgumentError('It takes a date, for example 2026-11-15T08:00:00Z.');
  return at.toISOString();
}

type Wishes = {
  readonly name?: string;
  readonly address?: string;
  readonly events?: readonly string[];
  readonly repo?: readonly RepositoryName[];
};

/** What was said of an endpoint, as the API takes it; `all` stands for no limit. */
const wishesOf = ({ name, address, events, repo }: Wishes) => ({
  ...(name === undefined ? {} : { name }),
  ...(address === undefined ? {} : { url: address }),
  ...(events === undefined ? {} : { eventTypes: events.includes('all') ? [] : [...events] }),
  ...(repo === undefined ? {} : { repositories: [...repo] }),
});

/** An endpoint by its id, the beginning of it, or its name. */
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
      : `Several webhook endpoints are called ${plainLine(text)}. Give the id: signalbox webhook list`,
  );
}

type Act = (api: Api, given: Given) => Promise<number>;

const idOf = async (api: Api, { args }: Given): Promise<string> =>
  (await findEndpoint(api, String(args[0]))).id;

type Family = {
  /** Adds a command with what all of them have. */
  readonly add: (name: string, summary: string) => Command;
  readonly on: (command: Command, act: Act) => void;
};

export const addWebhook: AddCommand = ({ program, context, run }) => {
  const family = program
    .command('webhook')
    .description('send events to programs and chats, and see what came of it');
  const kin: Family = {
    add: (name, summary) => withJson(withConnection(family.command(name).description(summary))),
    on: (command, act) => run(command, async (given) => act(await openApi(context, given.options), given)),
  };
  addEndpoints(kin);
  addSecrets(kin);
  addDeliveries(kin);
};

const limits = (command: Command) =>
  command
    .option('--events <types>', 'only these, with commas between them; all for all', asList)
    .option(
      '--repo <host/owner/name>',
      'only of this repository; may be given several times',
      asRepositories,
    );

function addEndpoints({ add, on }: Family): void {
  const list = add('list', 'list the endpoints and how each fares');
  withExamples(list, { line: 'signalbox webhook list', does: 'lists them' });
  on(list, listAll);

  const create = limits(
    add('create', 'send events to an address').argument('<address>', 'where, with https://'),
  )
    .requiredOption('--name <name>', 'what it is for')
    .option('--kind <kind>', 'webhook (signed, for programs), slack or teams', 'webhook');
  withExamples(create, {
    line: 'signalbox webhook create https://hooks.example/signalbox --name Deploys --events pull_request.merged',
    does: 'sends what is merged, and prints the secret once',
  });
  on(create, createOne);

  const update = limits(add('update', 'change an endpoint').argument('<endpoint>', 'its id or name'))
    .option('--name <name>', 'what it is for')
    .option('--address <url>', 'where events go')
    .option('--all-repositories', 'of every repository')
    .option('--disable', 'send nothing until it is enabled')
    .option('--enable', 'send again');
  withExamples(update, { line: 'signalbox webhook update Deploys --disable', does: 'sends nothing for now' });
  on(update, updateOne);

  const remove = add('delete', 'send nothing more to an endpoint, and forget it').argument(
    '<endpoint>',
    'its id or name',
  );
  withExamples(remove, { line: 'signalbox webhook delete Deploys', does: 'deletes it' });
  on(remove, async (api, given) => {
    const answer = await api.call('deleteWebhookEndpoint', { endpointId: await idOf(api, given) });
    return said(given, answer, ['It is deleted, and nothing more is sent to it.']);
  });
}

function addSecrets({ add, on }: Family): void {
  const rotate = add('rotate', 'make a new secret; the one before holds for a day').argument(
    '<endpoint>',
    'its id or name',
  );
  withExamples(rotate, { line: 'signalbox webhook rotate Deploys', does: 'prints the new secret once' });
  on(rotate, async (api, given) => {
    const answer = await api.call('rotateWebhookSecret', { endpointId: await idOf(api, given) });
    const until = `Until ${answer.previousUntil} events are signed with the one before too.`;
    return said(given, answer, [`The new secret, shown this once: ${answer.signingSecret}`, until]);
  });

  const test = add('test', 'send a test event and say what came of it').argument(
    '<endpoint>',
    'its id or name',
  );
  withExamples(test, { line: 'signalbox webhook test Deploys', does: 'ends with 0 if it was taken' });
  on(test, sendTest);
}

function addDeliveries({ add, on }: Family): void {
  const deliveries = add('deliveries', 'list what was sent, newest first')
    .argument('<endpoint>', 'its id or name')
    .option('--state <state>', 'pending, delivered or dead')
    .option('--take <count>', 'how many', '25');
  withExamples(deliveries, {
    line: 'signalbox webhook deliveries Deploys --state dead',
    does: 'lists what was given up',
  });
  on(deliveries, listDeliveries);

  const replay = add('replay', 'send deliveries again, under the ids they had')
    .argument('<endpoint>', 'its id or name')
    .argument('[delivery]', 'one delivery')
    .option('--since <time>', 'everything since then', asInstant)
    .option('--failed', 'with --since: only what was given up');
  withExamples(replay, {
    line: 'signalbox webhook replay Deploys --since 2026-11-15T08:00:00Z --failed',
    does: 'sends again what was given up since eight',
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
  const { kind, name, ...wishes } = given.options as Wishes & {
    readonly kind: string;
    readonly name: string;
  };
  if (kind !== 'webhook' && kind !== 'slack' && kind !== 'teams')
    throw new CliError('--kind takes webhook, slack or teams.', 'usage');
  const made = { kind, name, url: String(given.args[0]) } as const;
  const answer = await api.call('createWebhookEndpoint', { ...wishesOf(wishes), ...made });
  const { endpoint, signingSecret: secret } = answer;
  return said(given, answer, [
    `Events go to ${plainLine(endpoint.url)} (${endpoint.id}).`,
    ...(secret === null ? [] : [`Its secret, shown this once: ${secret}`]),
    `Try it with: signalbox webhook test ${endpoint.id}`,
  ]);
}

async function updateOne(api: Api, given: Given): Promise<number> {
  const { disable, enable, allRepositories } = given.options;
  if (disable === true && enable === true) throw new CliError('Give either --enable or --disable.', 'usage');
  const answer = await api.call('updateWebhookEndpoint', {
    endpointId: await idOf(api, given),
    ...wishesOf(given.options as Wishes),
    ...(allRepositories === true ? { repositories: null } : {}),
    ...(disable === true || enable === true ? { enabled: enable === true } : {}),
  });
  const { endpointLines } = await import('./webhook-view.ts');
  return said(given, answer, endpointLines([answer.endpoint], penFor(process.stdout), new Date()));
}

/** As long as an endpoint may take to answer, and some. */
const testMs = 45_000;

async function sendTest(api: Api, given: Given): Promise<number> {
  const endpointId = await idOf(api, given);
  const { deliveryId } = await api.call('sendTestWebhook', { endpointId });
  for (const endsAt = Date.now() + testMs; Date.now() < endsAt; await sleep(300)) {
    const { deliveries } = await api.call('listWebhookDeliveries', { endpointId, deliveryId });
    const attempt = deliveries[0]?.attempts.at(-1);
    if (attempt === undefined) continue;
    const { error, status, ms } = attempt;
    if (error !== null) throw new CliError(`The test was not taken: ${plainLine(error)}.`);
    return said(given, deliveries[0], [`The test was taken: ${status} after ${ms} ms.`]);
  }
  throw new CliError('The test was not sent yet: is a worker running, and is the endpoint enabled?');
}

async function listDeliveries(api: Api, given: Given): Promise<number> {
  const { state, take } = given.options as { readonly state?: string; readonly take: string };
  if (state !== undefined && state !== 'pending' && state !== 'delivered' && state !== 'dead')
    throw new CliError('--state takes pending, delivered or dead.', 'usage');
  const count = Number(take);
  if (!Number.isInteger(count) || count < 1 || count > 100)
    throw new CliError('--take takes 1 to 100.', 'usage');
  const wish = { endpointId: await idOf(api, given), take: count, ...(state === undefined ? {} : { state }) };
  const answer = await api.call('listWebhookDeliveries', wish);
  const { deliveryLines } = await import('./webhook-view.ts');
  return said(given, answer, deliveryLines(answer.deliveries, penFor(process.stdout), new Date()));
}

async function replaySome(api: Api, given: Given): Promise<number> {
  const { since, failed } = given.options as { readonly since?: string; readonly failed?: boolean };
  const deliveryId = given.args[1] as string | undefined;
  if ((deliveryId === undefined) === (since === undefined))
    throw new CliError('Give a delivery, or --since and a time.', 'usage');
  const answer = await api.call('replayWebhookDelivery', {
    endpointId: await idOf(api, given),
    ...(deliveryId === undefined ? { since, failedOnly: failed ?? false } : { deliveryId }),
  });
  return said(given, answer, [`${answer.replayed} sent again.`]);
}
