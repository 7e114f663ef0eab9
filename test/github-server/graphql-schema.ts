// The part of GitHub's published GraphQL schema that the server knows: a few types, with those of their fields that lead
// to nothing but these, scalars and enums. The whole has more than a thousand types, and takes long to build.

import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import {
  buildASTSchema,
  type DocumentNode,
  type GraphQLSchema,
  type InputObjectTypeDefinitionNode,
  type InterfaceTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  type TypeNode,
} from 'graphql';

const types = [
  'Query',
  'Mutation',
  'CreateCheckRunPayload',
  'UpdateCheckRunPayload',
  'CheckRun',
  'CheckSuite',
  'App',
  'StatusCheckRollup',
  'StatusCheckRollupContextConnection',
  'StatusContext',
  'AddCommentPayload',
  'IssueCommentEdge',
  'UpdateIssueCommentPayload',
  'IssueComment',
  'Repository',
  'PullRequest',
  'PullRequestReviewThreadConnection',
  'PullRequestReviewThread',
  'PullRequestReviewConnection',
  'PullRequestReview',
  'Commit',
  'Ref',
  'RefUpdateRule',
  'PageInfo',
  'RepositoryRuleConnection',
  'RepositoryRule',
  'RepositoryRuleset',
  'RequiredStatusChecksParameters',
  'StatusCheckConfiguration',
  'PullRequestParameters',
  'User',
  'Bot',
  'Organization',
];

/** Inputs of mutations, with what they consist of. */
const inputs = [
  'CreateCheckRunInput',
  'UpdateCheckRunInput',
  'CheckRunOutput',
  'CheckRunAction',
  'AddCommentInput',
  'UpdateIssueCommentInput',
];

/** Interfaces, with those of the types that are known. */
const interfaces = ['Actor', 'GitObject'];

/** Unions, of those of their types that are known. */
const unions = ['RuleParameters', 'StatusCheckRollupContext'];

/** The package's own entry point also reads the schema as JSON, which is five times as large. */
function publishedSchema(): string {
  const path = findPackageJSON('@octokit/graphql-schema', import.meta.url);
  return readFileSync(join(dirname(path!), 'schema.graphql'), 'utf8');
}

const nameOf = (type: TypeNode): string =>
  type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);

const namesOf = (text: string, kind: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^${kind} (\\w+)`, 'gm'))].map(([, name]) => name!);

const definitionOf = (text: string, kind: string, name: string): string =>
  new RegExp(`^${kind} ${name}\\b.*\\{[^]*?^\\}`, 'm').exec(text)![0];

const narrowedInput = (
  type: InputObjectTypeDefinitionNode,
  known: ReadonlySet<string>,
): InputObjectTypeDefinitionNode => ({
  ...type,
  fields: (type.fields ?? []).filter((field) => known.has(nameOf(field.type))),
});

/** The types of a union that the server knows. */
const membersOf = (text: string, union: string): readonly string[] =>
  new RegExp(`^union ${union} = (.*)$`, 'm')
    .exec(text)![1]!
    .split(' | ')
    .filter((name) => types.includes(name));

/** Without what leads elsewhere. */
const narrowed = <Type extends ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode>(
  type: Type,
  known: ReadonlySet<string>,
): Type => ({
  ...type,
  interfaces: (type.interfaces ?? []).filter(({ name }) => interfaces.includes(name.value)),
  fields: (type.fields ?? [])
    .filter((field) => known.has(nameOf(field.type)))
    .map((field) => ({
      ...field,
      directives: [],
      arguments: (field.arguments ?? []).filter((one) => known.has(nameOf(one.type))),
    })),
});

export function loadGraphqlSchema(): GraphQLSchema {
  const text = publishedSchema();
  const scalars = namesOf(text, 'scalar');
  const enums = namesOf(text, 'enum');
  const scalar = ['Int', 'Float', 'String', 'Boolean', 'ID'];
  const known = new Set([...types, ...inputs, ...interfaces, ...unions, ...scalars, ...enums, ...scalar]);
  const read = (source: string): DocumentNode => parse(source, { noLocation: true });
  const objects = [
    ...types.map((name) => definitionOf(text, 'type', name)),
    ...interfaces.map((name) => definitionOf(text, 'interface', name)),
  ]
    .flatMap((source) => read(source).definitions)
    .map((type) => narrowed(type as ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode, known));
  const given = inputs
    .flatMap((name) => read(definitionOf(text, 'input', name)).definitions)
    .map((type) => narrowedInput(type as InputObjectTypeDefinitionNode, known));
  const used = new Set(
    [...objects, ...given].flatMap(({ fields = [] }) =>
      fields.flatMap((field) => [
        nameOf(field.type),
        ...('arguments' in field ? (field.arguments ?? []) : []).map((one) => nameOf(one.type)),
      ]),
    ),
  );
  const others = [
    ...scalars.filter((name) => used.has(name)).map((name) => `scalar ${name}`),
    ...enums.filter((name) => used.has(name)).map((name) => definitionOf(text, 'enum', name)),
    ...unions.map((name) => `union ${name} = ${membersOf(text, name).join(' | ')}`),
  ];
  const definitions = [...objects, ...given, ...read(others.join('\n')).definitions];
  return buildASTSchema({ kind: Kind.DOCUMENT, definitions }, { assumeValidSDL: true });
}
