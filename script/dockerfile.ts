// Reads a Dockerfile as far as ours goes: stages and their steps, with ARG and ENV filled in.

export type Step = {
  readonly instruction: string;
  /** By name, such as `from` of COPY. */
  readonly flags: ReadonlyMap<string, string>;
  /** The rest of the line, as it is written. */
  readonly text: string;
};

export type Stage = {
  readonly name: string;
  readonly base: string;
  readonly steps: readonly Step[];
};

/** Lines that end in a backslash are one with the next; comments and empty lines are none. */
function logicalLines(text: string): string[] {
  const lines = text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  return lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.trim());
}

const filledIn = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole);

export function parseDockerfile(text: string): Stage[] {
  const stages: { name: string; base: string; steps: Step[] }[] = [];
  const values = new Map<string, string>();
  for (const line of logicalLines(text)) {
    const [, instruction = '', rest = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (instruction === 'ARG') {
      const [name = '', value = ''] = rest.split('=');
      values.set(name, value);
    } else if (instruction === 'FROM') {
      const [, base = '', name = String(stages.length)] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) ?? [];
      stages.push({ name, base: filledIn(base, values), steps: [] });
    } else {
      const [, leading = '', words = ''] = /^((?:--[\w-]+=\S+\s+)*)(.*)$/.exec(rest) ?? [];
      const flags = new Map(
        [...leading.matchAll(/--([\w-]+)=(\S+)/g)].map(([, name, value]) => [name!, value!]),
      );
      stages.at(-1)!.steps.push({ instruction, flags, text: words });
    }
  }
  return stages;
}

/** What a step was given last; null if there is none. */
export const lastOf = ({ steps }: Stage, instruction: string): string | null =>
  steps.findLast((step) => step.instruction === instruction)?.text ?? null;

/** The values of all ENV steps. */
export const environmentOf = ({ steps }: Stage): Record<string, string> =>
  Object.fromEntries(
    steps
      .filter(({ instruction }) => instruction === 'ENV')
      .flatMap(({ text }) => text.split(/\s+/))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
