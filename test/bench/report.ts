// `npm run bench:report [-- --cases N] [--json]`: how fast reports are read, and in how much memory. The report is made
// while it is read: ten cases to a class, one in a hundred failed with a stack trace, as large suites write them.

import { parseArgs } from 'node:util';
import { openReport } from '#report/bundle/report.ts';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';

const secondsMax = 15;
const growthMax = 256;
const mbPerSecondMin = 60;
const casesPerSecondMin = 100_000;

function caseOf(index: number): string {
  const head = `    <testcase name="handles request number ${index} of the batch" classname="com.example.service.Class${Math.floor(index / 10)}Test" time="0.${String(index % 1000).padStart(3, '0')}"`;
  if (index % 100 !== 0) return `${head}/>\n`;
  const trace = `\tat com.example.service.Class.method(Class.java:${index})\n`.repeat(12);
  return `${head}>\n      <failure message="expected &lt;200&gt; but was &lt;500&gt;" type="java.lang.AssertionError"><![CDATA[java.lang.AssertionError\n${trace}]]></failure>\n    </testcase>\n`;
}

/** The report in pieces of about 64 KiB, as a stream gives them. */
function* pieces(cases: number): Generator<Buffer> {
  yield Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n  <testsuite name="service">\n');
  let piece = '';
  for (let index = 0; index < cases; index++) {
    piece += caseOf(index);
    if (piece.length < 64 * 1024) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  yield Buffer.from(`${piece}  </testsuite>\n</testsuites>\n`);
}

function measure(cases: number): readonly Figure[] {
  let failed = 0;
  let bytes = 0;
  let spentMs = 0;
  let processorUs = 0;
  let rssMax = 0;
  const rssBefore = process.memoryUsage.rss();
  const report = openReport('bench.xml', (found) => {
    if (found.outcome === 'failed') failed++;
  });
  for (const piece of pieces(cases)) {
    bytes += piece.length;
    const begunAt = performance.now();
    const before = process.threadCpuUsage();
    report.write(piece);
    processorUs += usedSince(before);
    spentMs += performance.now() - begunAt;
    rssMax = Math.max(rssMax, process.memoryUsage.rss());
  }
  const begunAt = performance.now();
  const summary = report.end();
  const seconds = (spentMs + performance.now() - begunAt) / 1_000;
  const growth = (Math.max(rssMax, process.memoryUsage.rss()) - rssBefore) / 1024 ** 2;
  const lost = Math.abs(cases - summary.cases) + Math.abs(Math.ceil(cases / 100) - failed);
  const mbPerSecond = bytes / processorUs;
  const casesPerSecond = (cases / processorUs) * 1e6;
  return [
    { name: 'megabytes', value: bytes / 1e6 },
    { name: 'cases lost', value: lost, goal: '0', isMet: lost === 0 },
    { name: 'seconds', value: seconds, goal: `<= ${secondsMax}`, isMet: seconds <= secondsMax },
    {
      name: 'MB/s of one core',
      value: mbPerSecond,
      goal: `>= ${mbPerSecondMin}`,
      isMet: mbPerSecond >= mbPerSecondMin,
    },
    {
      name: 'cases/s of one core',
      value: Math.round(casesPerSecond),
      goal: `>= ${casesPerSecondMin}`,
      isMet: casesPerSecond >= casesPerSecondMin,
    },
    { name: 'growth of memory, MiB', value: growth, goal: `<= ${growthMax}`, isMet: growth <= growthMax },
  ];
}

function usedSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '1000000' }, json: { type: 'boolean', default: false } },
});
const figures = measure(Number(values.cases));
if (values.json) console.log(JSON.stringify({ figures }, null, 2));
else for (const figure of figures) console.log(lineOf(figure));
process.exitCode = figures.some(isMissed) ? 1 : 0;
