// The repository checks itself.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dividedFolders, ladder, sandboxFolder } from '../../script/ladder.ts';
import { lintConfig } from '../../script/lint-config.ts';
import { referencePages } from '../../script/reference.ts';
import { taskNames } from '#db/job/job.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  // The index may still name what was deleted in the work tree.
  .filter((file) => existsSync(file));
const ours = tracked.filter(
  (file) => /\.(ts|md|sql|json|yaml|sh)$|^\.ci\/run$/.test(file) && file !== 'package-lock.json',
);

describe('the folders of src', () => {
  const folders = readdirSync('src').filter((name) => statSync(`src/${name}`).isDirectory());

  it('are those of the ladder', () => {
    expect(folders.toSorted()).toEqual(ladder.map((rule) => rule.folder).toSorted());
  });

  it('are those of the tables in ARCHITECTURE.md, with the same imports', () => {
    const rows = [...read('ARCHITECTURE.md').matchAll(/^\| `src\/([\w/-]+)` \| ([^|]+) \| ([^|]+) \|$/gm)];
    const inner = dividedFolders.flatMap(({ folder, subfolders: list }) =>
      list.map((rule) => ({ ...rule, folder: `${folder}/${rule.folder}` })),
    );
    const rules = [...ladder, sandboxFolder, ...inner];
    expect(rows.map(([, folder, imports, holds]) => [folder, imports!.trim(), holds!.trim()])).toEqual(
      rules.map(({ folder, imports, holds }) => [folder, imports.join(', ') || 'nothing', holds]),
    );
  });

  it('have every job in the table of ARCHITECTURE.md', () => {
    const [, section = ''] = read('ARCHITECTURE.md').split('\n## Jobs\n');
    const rows = [...section.split('\n## ')[0]!.matchAll(/^\| `([a-z-]+)` /gm)].map(([, name]) => name!);
    expect(rows.toSorted()).toEqual([...taskNames].toSorted());
  });

  it.each(dividedFolders)('and those of src/$folder are its subfolders', ({ folder, subfolders }) => {
    const found = readdirSync(`src/${folder}`).filter((name) =>
      statSync(`src/${folder}/${name}`).isDirectory(),
    );
    expect(found.toSorted()).toEqual(subfolders.map((rule) => rule.folder).toSorted());
  });

  it('have the lint lists that the ladder makes', () => {
    expect(JSON.parse(read('.oxlintrc.json')), 'run: npm run lint:config').toEqual(lintConfig());
  });

  it('import only downwards: a file that does not is refused by the lint', () => {
    const probe = 'src/core/tidy-probe.ts';
    const lint = (text: string) => {
      execFileSync('tee', [probe], { input: text, stdio: ['pipe', 'ignore', 'ignore'] });
      try {
        execFileSync('node_modules/.bin/oxlint', [probe], { encoding: 'utf8', stdio: 'pipe' });
        return '';
      } catch (error) {
        return (error as { stdout: string }).stdout;
      } finally {
        execFileSync('rm', [probe]);
      }
    };
    expect(
      lint("import { hashToken } from '#db/account/scope-view.ts';\nexport const x = hashToken;\n"),
    ).toContain('may import only');
    expect(lint("import { readFileSync } from 'node:fs';\nexport const x = readFileSync;\n")).toContain(
      'may import only',
    );
    expect(lint("import { assert } from '#base/assert.ts';\nexport const x = assert;\n")).toBe('');
  });

  it('read process.env where a process begins only', () => {
    const readers = ours.filter(
      (file) =>
        /^src\/.*\.ts$/.test(file) && !file.endsWith('.test.ts') && read(file).includes('process.env'),
    );
    expect(readers).toEqual(['src/main.ts', 'src/signalbox.ts']);
  });

  const product = ours.filter((file) => /^src\/.*\.ts$/.test(file) && !file.endsWith('.test.ts'));

  it('write the audit log in commands only', () => {
    const writers = product.filter((file) => /\brecordAudit\(/.test(read(file)));
    expect(writers.filter((file) => !file.startsWith('src/command/'))).toEqual([]);
  });

  it('go by one clock in each function', () => {
    // A function is taken to end where a line begins with a closing bracket.
    const mixed = product.flatMap((file) =>
      read(file)
        .split(/^}/m)
        .filter((part) => /\bclock\.now\(\)/.test(part) && /\bDate\.now\(\)|\bnew Date\(\)/.test(part))
        .map(() => file),
    );
    expect(mixed).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  const text = read('ARCHITECTURE.md');

  it('has every table of the schema, with its primary key', () => {
    const schema = read('migration/schema.sql');
    const tables = [...schema.matchAll(/^CREATE TABLE public\.(\w+)/gm)].map(([, table]) => table!);
    const keys = new Map(
      [
        ...schema.matchAll(/^ALTER TABLE ONLY public\.(\w+)\n +ADD CONSTRAINT \w+ PRIMARY KEY \(([^)]+)\)/gm),
      ].map(([, table, columns]) => [table!, columns!.replaceAll('"', '').split(', ')]),
    );
    const [, section = ''] = text.split('\n## The data model\n');
    const rows = [...section.split('\n## ')[0]!.matchAll(/^\| `(\w+)` +\| ([^|]+)\| ([^|]+)\|$/gm)];
    const described = rows.map(([, table, columns]) => ({
      table: table!,
      key: [...columns!.matchAll(/`(\w+)`/g)].map(([, column]) => column),
    }));
    expect(tables.length).toBeGreaterThan(40);
    expect(described.toSorted((a, b) => (a.table < b.table ? -1 : 1))).toEqual(
      tables.toSorted().map((table) => ({ table, key: keys.get(table) })),
    );
  });

  it('draws its flows with jobs that exist', () => {
    const drawings = [...text.matchAll(/^```mermaid\n([^`]+)```$/gm)].map(([, drawing]) => drawing!);
    const named = drawings.flatMap((drawing) =>
      [...drawing.matchAll(/\["<code>([a-z-]+)<\/code>/g)].map(([, name]) => name!),
    );
    expect(drawings).toHaveLength(2);
    expect(named).toContain('reconcile-queue');
    expect(named.filter((name) => !taskNames.includes(name))).toEqual([]);
  });

  it('names files that exist', () => {
    const named = [...text.matchAll(/`((?:src|test|script|migration|web)\/[\w/.-]+\.\w+)`/g)].map(
      ([, file]) => file!,
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((file) => !existsSync(file))).toEqual([]);
    const loose = [...text.matchAll(/`((?!src\/|test\/|script\/|migration\/|web\/)[\w-]+\/[\w/.-]+\.ts)`/g)];
    expect(loose.map(([, file]) => file)).toEqual([]);
  });
});

describe('the documentation', () => {
  it('has the reference pages that the code makes', async () => {
    for (const [file, text] of Object.entries(await referencePages()))
      expect(read(file), 'run: npm run docs').toBe(text);
  });

  it('gives the reason for every dependency', () => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
      read('package.json'),
    ) as Record<string, object>;
    const page = read('docs/reference/dependencies.md');
    const missing = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).filter(
      (name) => !page.includes(`\`${name}\``),
    );
    expect(missing).toEqual([]);
  });

  it('links only to files that exist', () => {
    const broken = ours
      .filter((file) => file.endsWith('.md'))
      .flatMap((file) =>
        [...read(file).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
          .map(([, target]) => new URL(target!, `file://${process.cwd()}/${file}`).pathname)
          .filter((path) => !tracked.includes(path.slice(process.cwd().length + 1)) && !isFolder(path))
          .map((path) => `${file} → ${path}`),
      );
    expect(broken).toEqual([]);
  });

  const isFolder = (path: string) => {
    try {
      return statSync(path).isDirectory();
    } catch {
      return false;
    }
  };

  it('keeps a changelog whose first heading is Unreleased', () => {
    const headings = [...read('CHANGELOG.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings[0]).toBe('Unreleased');
    for (const heading of headings.slice(1)) expect(heading).toMatch(/^\d+\.\d+\.\d+ – \d{4}-\d{2}-\d{2}$/);
  });
});

describe('the files', () => {
  it('hold no leftovers', () => {
    const leftovers = ours.filter(
      (file) =>
        file !== 'test/project/tidy.test.ts' &&
        /\b(FIXME|XXX|HACK)\b|it\.only|describe\.only/.test(read(file)),
    );
    expect(leftovers).toEqual([]);
  });

  it('name the columns of every insert, so that a release works on the schema of the next one', () => {
    const unnamed = (text: string) =>
      [
        ...text.matchAll(
          /\binsert into\s+[\w.]+\s+(?:as\s+\w+\s+)?(?:select|values|default|table|overriding|with)\b/gi,
        ),
      ].map(([found]) => found);
    expect(
      unnamed('insert into queue_entry (id) select 1; insert into queue_entry as e\n  (id) values (1)'),
    ).toEqual([]);
    for (const text of [
      'insert into queue_entry select 1',
      'insert into queue_entry as e values (1)',
      'INSERT INTO a.b\nDEFAULT VALUES',
    ])
      expect(unnamed(text)).toHaveLength(1);
    const found = ours
      .filter((file) => /^src\/.*\.ts$/.test(file) && !file.endsWith('.test.ts'))
      .flatMap((file) => unnamed(read(file)).map((insert) => `${file}: ${insert}`));
    expect(found).toEqual([]);
  });

  it('are named in kebab-case', () => {
    const odd = tracked.filter(
      (file) =>
        /^(src|script|bench|sim|soak)\/.*\.ts$/.test(file) && !/^[a-z0-9/-]+(\.test)?\.ts$/.test(file),
    );
    expect(odd).toEqual([]);
  });

  it('have sample data for every migration, numbered without gaps', () => {
    const migrations = readdirSync('migration')
      .filter((file) => /^\d{4}-[a-z0-9-]+\.sql$/.test(file))
      .toSorted();
    expect(migrations.map((file) => Number(file.slice(0, 4)))).toEqual(
      migrations.map((_, index) => index + 1),
    );
    for (const file of migrations)
      expect(tracked).toContain(`migration/${file.replace('.sql', '.sample.sql')}`);
  });
});
