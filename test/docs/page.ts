// The pages of the documentation as data: their headings, their links, and what they tell the reader to type.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import GithubSlugger from 'github-slugger';
import { lexer, type Token, type Tokens, walkTokens } from 'marked';

export type Step = {
  readonly heading: string;
  /** What is typed, in one shell for the whole page. */
  readonly commands: string;
  /** What the page shows of the output: in this order, and an ellipsis stands for anything. */
  readonly shown: readonly string[];
  readonly exitCode: number;
  /** It asks what will be so in a while: it is typed again until it shows that. */
  readonly isRepeated: boolean;
  /** The reader is told to stop the service before this. */
  readonly isServiceStopped: boolean;
};

type Block = { readonly language: string; readonly text: string; readonly why: string };

export type Page = {
  readonly file: string;
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly string[];
  readonly steps: readonly Step[];
  /** All blocks of code; `why`: the reason that the page gives for not running the block. */
  readonly blocks: readonly Block[];
  /** The page whose shell it continues in; null: its own. */
  readonly continuedPage: string | null;
};

/** Comments in a page for the test, which the reader does not see. */
const marks = {
  notRun: /^<!-- not run: (.+) -->$/,
  exit: /^<!-- exit: (\d+) -->$/,
  repeated: /^<!-- again until so -->$/,
  stopped: /^<!-- the service is stopped here -->$/,
  continues: /^<!-- continues: (\S+) -->$/,
};

export const pageFiles = (): readonly string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .filter((file) => existsSync(file));

export function readPage(file: string): Page {
  const tokens = lexer(readFileSync(file, 'utf8'));
  const slugger = new GithubSlugger();
  const anchors = new Set<string>();
  const links: string[] = [];
  const collect = (token: Token) => {
    if (token.type === 'heading') anchors.add(slugger.slug(plainTextOf((token as Tokens.Heading).tokens)));
    if (token.type === 'link' || token.type === 'image') links.push((token as Tokens.Link).href);
  };
  void walkTokens(tokens, collect);
  return { file, anchors, links, ...stepsOf(tokens) };
}

const plainTextOf = (tokens: readonly Token[]): string =>
  tokens
    .map((token) =>
      'tokens' in token && token.tokens
        ? plainTextOf(token.tokens)
        : 'text' in token
          ? String(token.text)
          : '',
    )
    .join('');

/** Code stands at the top of a page or in one of its lists. */
const flat = (tokens: readonly Token[]): readonly Token[] =>
  tokens.flatMap((token) =>
    token.type === 'list' ? (token as Tokens.List).items.flatMap(({ tokens }) => flat(tokens)) : [token],
  );

function stepsOf(tokens: readonly Token[]): Pick<Page, 'steps' | 'blocks' | 'continuedPage'> {
  const steps: Step[] = [];
  const blocks: Block[] = [];
  let heading = '';
  let continuedPage: string | null = null;
  let mark = { why: '', exitCode: 0, isRepeated: false, isServiceStopped: false };
  let isAfterStep = false;
  for (const token of flat(tokens)) {
    if (token.type === 'heading') heading = (token as Tokens.Heading).text;
    if (token.type === 'html') {
      const text = (token as Tokens.HTML).text.trim();
      const why = marks.notRun.exec(text)?.[1];
      const exit = marks.exit.exec(text)?.[1];
      if (why !== undefined) mark = { ...mark, why };
      if (exit !== undefined) mark = { ...mark, exitCode: Number(exit) };
      if (marks.repeated.test(text)) mark = { ...mark, isRepeated: true };
      if (marks.stopped.test(text)) mark = { ...mark, isServiceStopped: true };
      continuedPage = marks.continues.exec(text)?.[1] ?? continuedPage;
    }
    if (token.type !== 'code') {
      // Output stands right below what is typed.
      isAfterStep &&= token.type === 'space';
      continue;
    }
    const { lang, text } = token as Tokens.Code;
    blocks.push({ language: lang ?? '', text, why: mark.why });
    if (lang !== 'sh') {
      if (lang === 'console') mark = { ...mark, why: '' };
      if (isAfterStep && lang !== 'console')
        steps.push({ ...steps.pop()!, shown: text.trimEnd().split('\n') });
      isAfterStep = false;
      continue;
    }
    const { why, ...rest } = mark;
    if (why === '') steps.push({ heading, commands: text, shown: [], ...rest });
    isAfterStep = why === '';
    mark = { ...mark, why: '', exitCode: 0, isRepeated: false };
  }
  return { steps, blocks, continuedPage };
}
