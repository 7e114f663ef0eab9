import type { StreamState } from '../api/stream.ts';
import { Pill } from './pill.tsx';

/** Whether the page is updated by the stream. While it is not, the page polls every few seconds. */
export const LiveMark = ({ state }: { readonly state: StreamState }) => (
  <span role="status" className="live">
    {state === 'live' ? (
      <Pill icon="live" label="Live" tone="good" />
    ) : (
      <Pill icon="clock" label="Reconnecting" tone="warn" />
    )}
  </span>
);
