// The part of GitHub's published GraphQL schema that the server knows: a few types, with those of their fields that lead
// to nothing but these, scalars and enums. The whole has more than a thousand types, and takes long to build.

import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import {
  buildASTSchema,
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  type TypeNode,
} from 'graphql';

const types = [
  'Query',
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
];

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

/** Without what leads elsewhere. */
const narrowed = (type: ObjectTypeDefinitionNode, known: ReadonlySet<string>): ObjectTypeDefinitionNode => ({
  ...type,
  interfaces: [],
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
  const known = new Set([...types, ...scalars, ...enums, 'Int', 'Float', 'String', 'Boolean', 'ID']);
  const read = (source: string): DocumentNode => parse(source, { noLocation: true });
  const objects = types
    .flatMap((name) => read(definitionOf(text, 'type', name)).definitions)
    .map((type) => narrowed(type as ObjectTypeDefinitionNode, known));
  const used = new Set(
    objects.flatMap(({ fields = [] }) =>
      fields.flatMap((field) => [
        nameOf(field.type),
        ...(field.arguments ?? []).map((one) => nameOf(one.type)),
      ]),
    ),
  );
  const others = [
    ...scalars.filter((name) => used.has(name)).map((name) => `scalar ${name}`),
    ...enums.filter((name) => used.has(name)).map((name) => definitionOf(text, 'enum', name)),
  ];
  const definitions = [...objects, ...read(others.join('\n')).definitions];
  return buildASTSchema({ kind: Kind.DOCUMENT, definitions }, { assumeValidSDL: true });
}
