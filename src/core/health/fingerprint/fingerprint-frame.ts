// The stack frames of a failure that lie in the repository's own files, as `file#function`. Lines and columns move with
// every edit and are left out; so are frames of runtimes and packages, which are the same for every failure.

import { textBefore } from '#base/text.ts';
import { maskText } from './fingerprint-mask.ts';

type StackFrame = { readonly file: string; readonly name: string };

const framesMax = 3;
/** Frames come early; what is below is how the runner got there. */
const linesMax = 100;
const lineMax = 500;

/** Each has at most one way to match a line: no two neighbouring parts take the same character. */
const grammars: readonly RegExp[] = [
  // JavaScript: at name (file:1:2), or at file:1:2
  /^at (?:async )?(?<name>[^()]{1,200}) \((?<file>[^()]{1,300}):\d+:\d+\)$/u,
  /^at (?:async )?(?<file>[^()\s]{1,300}):\d+:\d+$/u,
  // Java, Kotlin: at a.b.C.method(File.java:1)
  /^at (?:[\w.@-]{1,100}\/{1,2})?(?<name>[\w.$<>]{1,250})\((?<file>[\w.$-]{1,120})(?::\d+)?\)$/u,
  // .NET: at A.B.Method(Int32 a) in /src/File.cs:line 1
  /^at (?<name>[^()]{1,250})\([^()]{0,300}\) in (?<file>.{1,300}):line \d+$/u,
  // Python: File "a.py", line 1, in name
  /^File "(?<file>[^"]{1,300})", line \d+(?:, in (?<name>.{1,200}))?$/u,
  // pytest: a.py:1: AssertionError
  /^(?<file>[\w./\\-]{1,300}\.py):\d+: (?<name>[A-Za-z]{1,100})?$/u,
  // Ruby, PHP, Go test: a.rb:1:in `name', a.go:12: message
  /^(?:# )?(?<file>[\w./\\@-]{1,300}\.(?:rb|php|go|rs|ex|exs|swift|cc|cpp|c|h|m|scala|dart)):\d+(?::\d+)?(?::in [`'](?<name>[^`']{1,200})['`])?(?::.{0,300})?$/u,
  // Rust: thread 'x' panicked at src/a.rs:1:2:
  /^thread '[^']{1,200}' panicked at (?:'[^']{0,300}', )?(?<file>[\w./\\-]{1,300}):\d+:\d+:?$/u,
];

const foreign =
  /node_modules|node:|internal\/|site-packages|dist-packages|\/usr\/lib|\/usr\/local|\/gems\/|\/vendor\/|\.cargo|\/rustc\/|\/go\/pkg\/mod|GOROOT|goroot|_pytest|unittest\/|<frozen|<anonymous>|<unknown>|native code/u;
const foreignNames =
  /^(?:java|javax|jdk|sun|com\.sun|kotlin|scala|groovy|org\.(?:junit|testng|gradle|apache\.maven|hamcrest|assertj|mockito|opentest4j|springframework)|junit|reactor|io\.netty|System|Microsoft|Xunit|NUnit)\b\.?/u;

/** Excludes most lines before the grammars are tried. */
const looksLikeFrame = /^(?:at |File "|thread ')|^(?:# )?[^\s:]{1,300}:\d/u;

export function extractFrames(body: string): string[] {
  const frames: string[] = [];
  // Deep recursion shows the same frame over and over.
  const seen = new Set<string>();
  for (const line of body.split('\n', linesMax)) {
    if (line.length > lineMax) continue;
    const text = line.trim();
    if (seen.has(text) || !looksLikeFrame.test(text)) continue;
    seen.add(text);
    const frame = parseFrame(text);
    if (frame === null || foreign.test(frame.file) || foreignNames.test(frame.name)) continue;
    const own = `${normalizeFrameFile(frame.file)}#${normalizeFrameName(frame.name)}`;
    if (frames.at(-1) !== own) frames.push(own);
    if (frames.length === framesMax) break;
  }
  return frames;
}

function parseFrame(line: string): StackFrame | null {
  for (const grammar of grammars) {
    const groups = grammar.exec(line)?.groups;
    if (groups !== undefined) return { file: groups['file'] ?? '', name: groups['name'] ?? '' };
  }
  return null;
}

/** The folder and the file: where a checkout lies differs from machine to machine. */
function normalizeFrameFile(file: string): string {
  const path = textBefore(file.replace(/^file:\/\//u, '').replaceAll('\\', '/'), '?#');
  return maskText(
    path
      .split('/')
      .filter((part) => part !== '')
      .slice(-2)
      .join('/'),
  );
}

/** What compilers number is not a name: lambdas, blocks, closures. */
const normalizeFrameName = (name: string): string =>
  name
    .replaceAll(/(?:lambda|block|closure|fn|anonfun)\$?[\w$]{0,40}\$\d{1,9}/gu, 'lambda')
    .replaceAll(/\d{3,}/gu, '0')
    .trim();
