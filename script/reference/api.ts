// docs/reference/api.md: the published contract, for reading.
import { openApiDocument } from '#contract/endpoint/openapi.ts';
import { tags } from '#contract/endpoint/endpoint-type.ts';
import { endpoints } from '#contract/endpoint/endpoint.ts';
import { fieldRows, type Schema, typeText } from './schema-text.ts';
import { table } from './table.ts';

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

type Operation = {
  readonly requestBody?: { readonly content: Content };
  readonly parameters?: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

function fieldsTable(schema: Schema, isRequest: boolean): string {
  const rows = fieldRows(schema).map(({ name, type, isRequired, description: says }) => [
    `\`${name}\`${isRequest && isRequired ? ' (required)' : ''}`,
    type,
    says,
  ]);
  return rows.length === 0 ? '' : table(['field', 'type', 'what it is'], rows);
}

function requestText({ requestBody, parameters }: Operation): string {
  const schema = requestBody?.content['application/json']?.schema;
  const query: Schema = {
    properties: Object.fromEntries((parameters ?? []).map(({ name, schema }) => [name, schema])),
    required: (parameters ?? []).filter(({ required }) => required).map(({ name }) => name),
  };
  if (schema?.$ref !== undefined) return `Request: ${typeText(schema)}`;
  const body = schema === undefined ? '' : fieldsTable(schema, true);
  return [body, parameters === undefined ? '' : `In the query:\n\n${fieldsTable(query, true)}`].join('\n\n');
}

function answerText({ responses }: Operation): string {
  const content = responses['200']?.content ?? {};
  const schema = content['application/json']?.schema;
  if (schema === undefined) return 'Answer: plain text.';
  if (schema.$ref !== undefined) return `Answer: ${typeText(schema)}`;
  const fields = fieldsTable(schema, false);
  return fields === '' ? 'Answer: `{}`' : `Answer:\n\n${fields}`;
}

function operationText(document: Document, name: string): string {
  const { method, path, scopes, summary, errors } = endpoints[name as keyof typeof endpoints];
  const operation = document.paths[path]![method.toLowerCase()]!;
  const own = [...new Set(errors)].map((error) => `\`${error}\``).join(', ');
  return [
    `### ${name}`,
    `${summary.replace(/\.$/, '')}.`,
    `\`${method} ${path}\`, ${scopes.length === 0 ? 'any scope' : `scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}`}`,
    requestText(operation),
    answerText(operation),
    own === '' ? '' : `Errors of its own: ${own}`,
  ].join('\n\n');
}

export function apiPage(): string {
  const document = openApiDocument({
    publicUrl: 'http://localhost:8080',
    version: '',
  }) as unknown as Document;
  const names = Object.keys(endpoints);
  const parts = Object.entries(tags).map(([tag, says]) => {
    const operations = names.filter((name) => endpoints[name as keyof typeof endpoints].tag === tag);
    return [`## ${tag}`, says, ...operations.map((name) => operationText(document, name))].join('\n\n');
  });
  const types = Object.entries(document.components.schemas).map(([name, schema]) =>
    [
      `### ${name}`,
      schema.description ?? '',
      schema.properties === undefined ? typeText(schema) : fieldsTable(schema, false),
    ].join('\n\n'),
  );
  return `# API reference

Every call, as the service publishes it at \`/openapi.json\` and, to try it, at \`/docs\`.
[The API by hand](../tutorial/http-api.md) is a tour of it.

- Calls are \`POST\` with a JSON body, unless they say otherwise, and answer 200 with JSON.
- The header \`x-api-token\` holds the token, on every request.
- Fields that a call does not know are ignored; names of states and modes are taken in any case. Times are ISO 8601 in UTC.
- An error is a status and a body with a stable \`code\`: [errors](errors.md). Every call can answer with those for
  authentication, validation, limits and outages; further ones are named with the call.
- Over the rate limit a call is answered with 429 and \`Retry-After\`.

${parts.join('\n\n')}

## Types

What several calls take or answer.

${types.join('\n\n')}
`;
}
