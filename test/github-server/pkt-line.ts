// The lines in which git speaks: four hexadecimal digits of length, then that many bytes less four.

export type PushCommand = { readonly ref: string; readonly old: string; readonly new: string };

const flush = Buffer.from('0000');

/** The packets up to the first flush or the end; null stands for a flush within. */
function* packets(bytes: Buffer): Generator<Buffer | null> {
  for (let at = 0; at + 4 <= bytes.length;) {
    const length = Number.parseInt(bytes.subarray(at, at + 4).toString('latin1'), 16);
    if (Number.isNaN(length)) return;
    yield length < 4 ? null : bytes.subarray(at + 4, at + length);
    at += Math.max(length, 4);
  }
}

const packet = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);

/** What a push asks for: `<old> <new> <ref>` lines before the pack. */
export function pushCommands(body: Buffer): readonly PushCommand[] {
  const commands: PushCommand[] = [];
  for (const line of packets(body)) {
    if (line === null) break;
    const text = line.toString('utf8').split('\0')[0]!;
    const [, old, next, ref] = /^([0-9a-f]{40}) ([0-9a-f]{40}) (\S+)/.exec(text) ?? [];
    if (ref !== undefined) commands.push({ ref, old: old!, new: next! });
  }
  return commands;
}

/**
 * The answer to a push, with the reason why a ref was declined in GitHub's words. Git itself only says that a hook
 * declined. The report travels in the first of three bands, cut into packets as it comes.
 */
export function withReasons(answer: Buffer, reasons: ReadonlyMap<string, string>): Buffer {
  const outer = [...packets(answer)];
  const isBanded = outer.some((part) => part !== null && part[0] === 1);
  if (reasons.size === 0 || !isBanded) return answer;
  const report = Buffer.concat(outer.filter((part) => part?.[0] === 1).map((part) => part!.subarray(1)));
  const others = outer.filter((part): part is Buffer => part !== null && part[0] !== 1);
  const told = [...packets(report)].map((line) => {
    if (line === null) return flush;
    const [, ref, reason] = /^ng (\S+) (.*hook declined)\n?$/.exec(line.toString('utf8')) ?? [];
    const better = ref === undefined ? undefined : reasons.get(ref);
    return packet(better === undefined || reason === undefined ? line : Buffer.from(`ng ${ref} ${better}\n`));
  });
  const band = packet(Buffer.concat([Buffer.from([1]), ...told]));
  return Buffer.concat([...others.map(packet), band, flush]);
}
