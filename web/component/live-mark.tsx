import type { StreamState } from '../stream.ts';
import { Pill } from './state.tsx';

/** Whether what is shown follows by itself. While it does not, the page asks every few seconds. */
export const LiveMark = ({ state }: { readonly state: StreamState }) => (
  <span role="status" className="live">
    {state === 'live' ? (
      <Pill icon="live" word="Live" tone="good" />
    ) : (
      <Pill icon="clock" word="Reconnecting" tone="warn" />
    )}
  </span>
);
