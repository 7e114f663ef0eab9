// The rules that keep the project in plain language: each is shown failing on a bad sentence and passing on a good one.
import { describe, expect, it } from 'vitest';
import { lintProse } from '../../script/prose/lint.ts';
import { proseRules } from '../../script/prose/rule.ts';
import { identifierWords, phrases, proseWords } from '../../script/word-list.ts';
import { refusedWords } from '../../script/word-use.ts';

const rulesBroken = async (text: string) => (await lintProse(text)).map(({ rule }) => rule);
const found = (file: string, text: string) => refusedWords(file, text).map(({ what }) => what);

const longSentence = `${Array.from({ length: 46 }, () => 'word').join(' ')}.`;

const examples: readonly (readonly [rule: string, bad: string, good: string])[] = [
  ['words', 'The run begins anew.', 'The run restarts.'],
  ['words', 'The queue goes\non meanwhile.', 'The queue continues meanwhile.'],
  ['sentence-length', longSentence, longSentence.replace(' word word.', '. Word word.')],
  [
    'subject',
    'What was submitted is tested before it lands.',
    'Every pull request is tested before it lands. What happens if it fails?',
  ],
  ['passive', 'The worker is told which run to stop.', 'The API names the run that the worker stops.'],
  ['heading-case', '## Connect Your Repository', '## Connect GitHub: Two ways with an App'],
  ['filler', 'You simply add the label.', 'You add the label just before the merge.'],
  ['one-name', 'The code host merges it.', 'The Git host merges it.'],
];

describe('the prose linter', () => {
  it.each(examples)('%s refuses “%s” and accepts “%s”', async (rule, bad, good) => {
    expect(await rulesBroken(bad)).toContain(rule);
    expect(await rulesBroken(good)).toEqual([]);
  });

  it('has an example for each rule', () => {
    expect(new Set(examples.map(([rule]) => rule))).toEqual(new Set(proseRules.map(({ id }) => id)));
  });

  it('names the line, also in lists and tables', async () => {
    const text = '# Queue\n\n- first\n- told\n\n| State |\n| --- |\n| anew |\n';
    expect((await lintProse(text)).map(({ line, rule }) => [line, rule])).toEqual([
      [4, 'words'],
      [8, 'words'],
    ]);
  });

  it('reads no code, no target of a link and no comment', async () => {
    const text =
      '`told` [the guide](anew.md) <!-- goes on -->\n\n```sh\nsignalbox anew\n```\n\n<!-- nobody -->\n';
    expect(await rulesBroken(text)).toEqual([]);
  });
});

describe('the list of words', () => {
  it('finds each of its names in code, as a whole and as a part', () => {
    const missed = [...identifierWords.keys()].filter(
      (word) =>
        !found('src/a.ts', `const ${word} = 1;`).includes(word) ||
        !found('src/a.ts', `statement(\`\n select x.${word}_at from x\`);`).includes(`${word}_at`),
    );
    expect(missed).toEqual([]);
    expect(found('src/shelf.ts', '')).toEqual(['src/shelf.ts']);
  });

  it('finds each of its words and phrases in comments, texts and pages', () => {
    const missed = [...proseWords.keys(), ...phrases.keys()].filter((word) => {
      const sentence = `It says ${word} there.`;
      const code = `// ${sentence}\nconst text = <p title="${sentence}">{\`${sentence}\`}</p>;`;
      return found('web/a.tsx', code).length !== 3 || found('docs/a.md', sentence).length !== 1;
    });
    expect(missed).toEqual([]);
  });

  it('finds a phrase over two lines of a comment, and none over code', () => {
    expect(found('src/a.ts', '// The queue goes\n// on meanwhile.\n')).toHaveLength(1);
    expect(found('src/a.ts', "const goes = 'goes';\nconst on = 'on';\n")).toEqual([]);
  });

  it('leaves plain English alone: a name is refused as a name, not as a word', () => {
    expect(
      found('src/a.ts', '// Look at the first word: it may tell you more.\nconst text = "a wish";\n'),
    ).toEqual([]);
    expect(found('src/a.ts', '// One round trip. The log tells you why, in line with line 3.\n')).toEqual([]);
    expect(found('src/a.ts', '/** See `wordsOf` and lookMs. */')).toEqual(['`wordsOf`', 'lookMs']);
  });

  it('leaves published names alone, only where they are published', () => {
    expect(
      found('src/contract/a.ts', 'const a = { trip: attempt, id: "Trip" }; a.trip; call("listTrips");'),
    ).toEqual([]);
    expect(found('docs/a.md', 'The field `trip`, as in `{"trip": 1}`.')).toEqual([]);
    expect(found('src/contract/a.ts', 'const trip = 1;')).toEqual(['trip']);
    expect(found('src/core/a.ts', 'a.trip;')).toEqual(['trip']);
  });

  it('leaves former names alone where they are the subject', () => {
    const text = 'The table `telling` was told to become `status_comment`.';
    expect(found('docs/decision/0099-names-in-the-schema.md', text)).toEqual(['told']);
    expect(found('docs/decision/0099-other.md', text)).toEqual(['`telling`', 'told']);
    expect(found('src/db/job/former-task.ts', "const former = { 'obey-label': 'handle-label' };")).toEqual(
      [],
    );
  });
});
