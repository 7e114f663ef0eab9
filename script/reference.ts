// Reference pages made from the code: docs/reference/{config,errors,settings,api,cli,rules,retention}.md. `npm run docs`
// writes them; test/project/tidy.test.ts compares them.
import { writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { errorRegistry } from '#base/error.ts';
import { clientVariables } from '#config/client.ts';
import { variables } from '#config/variable.ts';
import { apiPage } from './reference/api.ts';
import { cliPage } from './reference/cli.ts';
import { retentionPage } from './reference/retention.ts';
import { rulesPage } from './reference/rules.ts';
import { settingsPage } from './reference/settings.ts';
import { table } from './reference/table.ts';
import { listLicensed } from './licences.ts';

function configPage(): string {
  const rows = Object.entries(variables).map(([name, { schema, doc }]) => {
    const initial: unknown = schema.safeParse(undefined).data;
    return [
      `\`${name}\``,
      initial === undefined ? '' : `\`${JSON.stringify(initial).replaceAll('"', '')}\``,
      doc,
    ];
  });
  return `# Configuration

All configuration comes from the environment. It is read once, at start; every problem is told at once, and a variable
that begins with \`SIGNALBOX_\` and is not listed here is refused. A variable that is set but empty counts as absent.

${table(['variable', 'default', 'what it does'], rows)}

## For CI

\`signalbox test\` and \`signalbox upload\` run where the service does not, and read only these; the
[guide](../tutorial/flaky-tests.md) shows their use.

${table(
  ['variable', 'what it does'],
  Object.entries(clientVariables).map(([name, { doc }]) => [`\`${name}\``, doc]),
)}
`;
}

function errorsPage(): string {
  const rows = Object.entries(errorRegistry).map(([code, { status, meaning }]) => [
    String(status),
    `\`${code}\``,
    meaning,
  ]);
  return `# Errors

Every error is answered in one envelope:

\`\`\`json
{
  "error": {
    "code": "QUEUE_NOT_EMPTY",
    "message": "The queue for main in acme/widgets still holds 3 pull requests. Cancel or merge them first.",
    "requestId": "0b7ad0ea-6e36-4b3d-8a44-3f2f2f9a3c51"
  }
}
\`\`\`

\`code\` is stable; \`message\` is written for a person and says what to do next; \`VALIDATION_FAILED\` also has \`details\`,
all problems at once, each with the \`path\` of the field. \`requestId\` is also the \`x-request-id\` header and finds the
request in the log.

${table(['status', 'code', 'meaning'], rows)}
`;
}

function licencesPage(): string {
  const rows = listLicensed().map(({ name, version, license, part }) => [name, version, license, part]);
  return `# Licences

Signalbox is under the Apache License 2.0. These packages of others are given on with it: those of the service, which npm
installs beside it with their licences, and those that are built into the pages of the dashboard. A test refuses any that
is copyleft or unknown. \`npm run -s sbom\` prints the same as a bill of materials (CycloneDX, JSON) for the service.

${table(['package', 'version', 'licence', 'part of'], rows)}
`;
}

export async function referencePages(): Promise<Readonly<Record<string, string>>> {
  const pages = {
    'docs/reference/config.md': configPage(),
    'docs/reference/errors.md': errorsPage(),
    'docs/reference/settings.md': settingsPage(),
    'docs/reference/api.md': apiPage(),
    'docs/reference/licences.md': licencesPage(),
    'docs/reference/cli.md': cliPage(),
    'docs/reference/rules.md': rulesPage(),
    'docs/reference/retention.md': retentionPage(),
  };
  const formatted = Object.entries(pages).map(async ([file, text]) => [
    file,
    await format(text, { parser: 'markdown', printWidth: 110 }),
  ]);
  return Object.fromEntries(await Promise.all(formatted)) as Record<string, string>;
}

if (import.meta.main)
  for (const [file, text] of Object.entries(await referencePages())) writeFileSync(file, text);
