// Makes a workflow run for pushes to test branches, by changing as few characters of its file as possible: comments, quotes and
// line breaks of the rest stay. Pure: text in, text out.
//
//   on: pull_request                     on:
//                                          pull_request:
//                                          push:
//                                            branches: ['signalbox/**']
//
//   on:                                  on:
//     push:                                push:
//       branches: [main] # releases          branches: [main, 'signalbox/**'] # releases
//
// The result is read again before it is offered: the workflow must run for test branches, and everything but its trigger `push`
// must be what it was. Otherwise a person has to edit the file, and gets the lines to add.

import { isDeepStrictEqual } from 'node:util';
import {
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parse,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { fields, parseWorkflow, runsOnPush, type Workflow } from './workflow.ts';

export type WorkflowEdit =
  | { readonly kind: 'edited'; readonly text: string }
  | {
      readonly kind: 'by-hand';
      readonly reason: string;
      /** To be added to the file. */
      readonly lines: string;
    };

const pattern = "'signalbox/**'";
const branches = `branches: [${pattern}]`;
const wholeTrigger = `on:\n  push:\n    ${branches}\n`;

type Splice = { readonly from: number; readonly to: number; readonly insert: string };
/** Why the file cannot be edited. */
type Obstacle = { readonly obstacle: string; readonly lines?: string };
type WorkflowChange = readonly Splice[] | Obstacle;

type Source = { readonly text: string; readonly eol: string };

/** @param branch - the name of a test branch */
export function addTestBranchTrigger(text: string, branch: string): WorkflowEdit {
  const source = { text, eol: text.includes('\r\n') ? '\r\n' : '\n' };
  const workflow = parseWorkflow({ path: '', text });
  const change: WorkflowChange =
    workflow === null ? { obstacle: 'The file is not a workflow.' } : planChange(source, workflow);
  if ('obstacle' in change) return byHand(change);
  const edited = applied(text, change);
  const isRight = isSameButPush(text, edited) && runsForBranch(edited, branch);
  return isRight ? { kind: 'edited', text: edited } : byHand(unusual);
}

const byHand = ({ obstacle, lines = wholeTrigger }: Obstacle): WorkflowEdit => ({
  kind: 'by-hand',
  reason: obstacle,
  lines,
});

function runsForBranch(text: string, branch: string): boolean {
  const workflow = parseWorkflow({ path: '', text });
  return workflow !== null && runsOnPush(workflow, branch);
}

/** Of splices at one place, the first is inserted first. */
function applied(text: string, splices: readonly Splice[]): string {
  let edited = '';
  let at = 0;
  for (const { from, to, insert } of splices.toSorted((a, b) => a.from - b.from)) {
    edited += text.slice(at, from) + insert;
    at = to;
  }
  return edited + text.slice(at);
}

function planChange(source: Source, { triggers }: Workflow): WorkflowChange {
  // The decoder put this character in the place of bytes that are not UTF-8: they would be lost.
  if (source.text.includes('\u{FFFD}')) return { obstacle: 'The file is not UTF-8.' };
  if (triggers.has('workflow_call') && !triggers.has('push'))
    return {
      obstacle: 'Other workflows call this one: add the trigger to those that do.',
    };
  const ignored = triggers.get('push')?.ignoredBranches ?? [];
  if (ignored.length > 0)
    return {
      obstacle:
        'Its branches-ignore leaves test branches out, and cannot be combined with branches. Replace it.',
      lines: `branches: [${['**', ...ignored.map((name) => `!${name}`), 'signalbox/**'].map(quoted).join(', ')}]\n`,
    };
  const { contents } = parseDocument(source.text, { logLevel: 'silent' });
  return changeTriggers(source, valueOf(contents, 'on'));
}

const quoted = (name: string): string => `'${name.replaceAll("'", "''")}'`;

/** Undefined: the map does not have the key. */
const valueOf = (map: unknown, key: string): unknown =>
  (isMap(map) ? map.items : []).find((item: Pair) => isScalar(item.key) && item.key.value === key)?.value;

const unusual: Obstacle = { obstacle: 'Its triggers are written in an unusual form.' };

/** Where the node itself begins and ends, without comments. */
const rangeOf = ({ range }: Node): readonly [from: number, to: number] => [range![0], range![1]];
const isText = (node: unknown): node is Node => isScalar(node) && typeof node.value === 'string';
const lineBefore = (text: string, at: number): string => text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
const lineAfter = (text: string, at: number): string => /^[^\r\n]*/.exec(text.slice(at))![0];
const spaces = (text: string): string => ' '.repeat(text.length);

/** The value of `on`: a name, a list of names, or a map. */
function changeTriggers(source: Source, on: unknown): WorkflowChange {
  if (isText(on)) return writeMap(source, on, [on]);
  if (isSeq(on) && on.items.length > 0 && on.items.every(isText))
    return on.flow === true ? writeMap(source, on, on.items) : changeNames(source, on.items);
  if (!isMap(on)) return unusual;
  const push = valueOf(on, 'push');
  if (push === undefined) return insertFirst(source, on, `push:`, branches);
  if (!isMap(push)) return unusual;
  const patterns = valueOf(push, 'branches');
  return patterns === undefined ? insertFirst(source, push, branches) : addPattern(source, patterns);
}

/** Writes a map in the place of a name, or of a list in brackets. A comment behind it stays in its line. */
function writeMap({ text, eol }: Source, node: Node, names: readonly Node[]): WorkflowChange {
  const [from, to] = rangeOf(node);
  if (text.slice(from, to).includes('#')) return unusual;
  const before = lineBefore(text, from);
  const blanks = before.length - before.trimEnd().length;
  const rest = lineAfter(text, to);
  const events = names.map((name) => `  ${text.slice(...rangeOf(name))}:`);
  const insert = [rest.trimEnd(), ...events, '  push:', `    ${branches}`].join(eol);
  return [{ from: from - blanks, to: to + rest.length, insert }];
}

/** Turns a list with a line for each name into a map, by `- name` becoming `  name:`. */
function changeNames({ text, eol }: Source, names: readonly Node[]): WorkflowChange {
  const entries = names.map((name) => {
    const [from, to] = rangeOf(name);
    return { from, to, before: lineBefore(text, from) };
  });
  const last = entries.at(-1)!;
  if (entries.some(({ before }) => !/^ *- +$/.test(before))) return unusual;
  const end = last.to + lineAfter(text, last.to).length;
  const indent = spaces(last.before);
  return [
    ...entries.flatMap(({ from, to, before }) => [
      { from: from - before.length, to: from, insert: spaces(before) },
      { from: to, to, insert: ':' },
    ]),
    { from: end, to: end, insert: `${eol}${indent}push:${eol}${indent}  ${branches}` },
  ];
}

/** Puts a key before the others of a map; each of `lines` is indented below the one before. */
function insertFirst({ text, eol }: Source, map: YAMLMap, ...lines: readonly string[]): WorkflowChange {
  const first = map.items[0]?.key;
  if (!isText(first)) return unusual;
  const [at] = rangeOf(first);
  if (map.flow === true) {
    const [outer, inner] = lines;
    return [{ from: at, to: at, insert: `${inner === undefined ? outer : `${outer} { ${inner} }`}, ` }];
  }
  const indent = lineBefore(text, at);
  if (indent.trim() !== '') return unusual;
  const insert = lines.map((line, depth) => `${depth === 0 ? '' : `${indent}  `}${line}${eol}`).join('');
  return [{ from: at, to: at, insert: insert + indent }];
}

/** A later pattern overrides an earlier one, so it is the last. */
function addPattern(source: Source, patterns: unknown): WorkflowChange {
  const { text } = source;
  if (isText(patterns)) {
    const [from, to] = rangeOf(patterns);
    return [{ from, to, insert: `[${text.slice(from, to)}, ${pattern}]` }];
  }
  return isSeq(patterns) ? addToList(source, patterns) : unusual;
}

function addToList({ text, eol }: Source, list: YAMLSeq): WorkflowChange {
  const last = list.items.at(-1) as Node | undefined;
  const [from, to] = rangeOf(last ?? list);
  if (last === undefined) return [{ from, to, insert: `[${pattern}]` }];
  if (list.flow === true) return [{ from: to, to, insert: `, ${pattern}` }];
  const dash = lineBefore(text, from);
  const end = to + lineAfter(text, to).length;
  return [{ from: end, to: end, insert: `${eol}${dash}${pattern}` }];
}

function isSameButPush(before: string, after: string): boolean {
  const [was, is] = [before, after].map(parts);
  return was !== undefined && is !== undefined && isDeepStrictEqual(was, is);
}

/** All of a workflow but the branches of its trigger `push`; undefined: it cannot be read. */
function parts(text: string) {
  try {
    const { on, ...rest } = fields(parse(text, { logLevel: 'silent' }));
    const names = typeof on === 'string' ? [on] : Array.isArray(on) ? (on as string[]) : null;
    const triggers = names === null ? fields(on) : Object.fromEntries(names.map((name) => [name, null]));
    const { push, ...others } = triggers;
    const { branches: _, ...filters } = fields(push);
    return { rest, others, filters };
  } catch {
    return undefined;
  }
}
