// What the page was last told by the live stream. With it a question says how new its answer must be at least, so that
// pages which ask the same can be given the same: see http/shared-read.ts.

let told: string | undefined;

export const toldId = (): string | undefined => told;

export function forgetTold(): void {
  told = undefined;
}

/** Of an event: the number in it, in the epoch of the last id that there was. */
export function noteTold(lastEventId: string, data: string): void {
  const [epoch] = lastEventId.split('-');
  const version: unknown = (JSON.parse(data) as { readonly version?: unknown }).version;
  told = epoch === '' || typeof version !== 'number' ? undefined : `${epoch}-${version}`;
}
