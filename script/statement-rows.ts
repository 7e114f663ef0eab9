// The columns that the declared row type of each statement names: one JSON line a statement, with its place and text. Only the
// compiler knows them. test/service/statement.test.ts compares them with the columns that PostgreSQL returns.
import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type CallExpression, type Node, SyntaxKind } from 'typescript/unstable/ast';
import { API, type Checker, type Program, SymbolFlags, TypeFlags } from 'typescript/unstable/sync';

type Place = { readonly file: string; readonly line: number; readonly column: number };

/** The texts of statements, by the place in the source that makes them. */
const made: { readonly text: string; readonly place: Place }[] = [];

function noteStatement(text: string, stack: string): void {
  // The first frame is of statement.ts; pages make their statements in keyset.ts.
  const frame = stack
    .split('\n')
    .map((line) => /(file:.*\.ts):(\d+):(\d+)/.exec(line))
    .filter((match) => match !== null)
    .find(([, url]) => !/\/(statement|keyset)\.ts$/.test(url!));
  if (frame === undefined) return;
  const [, url, line, column] = frame;
  made.push({ text, place: { file: fileURLToPath(url!), line: Number(line), column: Number(column) } });
}

Object.assign(globalThis, { noteStatement });
registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (!url.endsWith('/src/db/statement.ts')) return loaded;
    const source = readFileSync(new URL(url), 'utf8');
    return {
      ...loaded,
      source: source.replaceAll(
        /(statementTexts\.add\(text\);)/g,
        '$1 noteStatement(text, new Error().stack);',
      ),
    };
  },
});
const folder = pathToFileURL(resolve('src/db/'));
for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.ts') && !file.endsWith('.test.ts')) await import(`${folder.href}/${file}`);

/** The call that begins there. */
function findCall(root: Node, position: number): CallExpression | undefined {
  let found: CallExpression | undefined;
  const visit = (node: Node): void => {
    if (node.pos > position || node.end <= position) return;
    if (node.kind === SyntaxKind.CallExpression && node.getStart() === position)
      found = node as CallExpression;
    node.forEachChild(visit);
  };
  visit(root);
  return found;
}

/** Null: the row type is that of a generic function, or none. */
function declaredColumns(program: Program, checker: Checker, place: Place): readonly string[] | null {
  const source = program.getSourceFile(place.file);
  if (source === undefined) return null;
  const lines = source.text.split('\n').slice(0, place.line - 1);
  const position = lines.reduce((sum, line) => sum + line.length + 1, place.column - 1);
  const row = findCall(source, position)?.typeArguments?.[1];
  const type = row === undefined ? undefined : checker.getTypeFromTypeNode(row);
  if (type === undefined || (type.flags & TypeFlags.Never) !== 0) return null;
  const isOptional = (flags: SymbolFlags) => (flags & SymbolFlags.Optional) !== 0;
  return checker.getPropertiesOfType(type).flatMap(({ name, flags }) => (isOptional(flags) ? [] : [name]));
}

const api = new API();
const snapshot = api.updateSnapshot({ openProjects: [resolve('tsconfig.json')] });
const [project] = snapshot.getProjects();
for (const { text, place } of made) {
  // A page also counts the rows of its list.
  const isCount = text.startsWith('select count(*) as total ');
  const columns = isCount ? null : declaredColumns(project!.program, project!.checker, place);
  console.log(JSON.stringify({ place: `${place.file}:${place.line}`, columns, text }));
}
api.close();
