// The last event that the page received from the live stream. With it a request says how new its answer must
// be, so that pages that send the same request can share the answer: see http/endpoint/shared-read.ts.

let lastSeenId: string | undefined;

export const getLastSeenId = (): string | undefined => lastSeenId;

export function clearLastSeenId(): void {
  lastSeenId = undefined;
}

/** Combines the version in an event with the epoch of the last id. */
export function recordLastSeenId(lastEventId: string, data: string): void {
  const [epoch] = lastEventId.split('-');
  const version: unknown = (JSON.parse(data) as { readonly version?: unknown }).version;
  lastSeenId = epoch === '' || typeof version !== 'number' ? undefined : `${epoch}-${version}`;
}
