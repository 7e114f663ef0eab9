import type { TimeRow } from '#contract/text/time-rows.ts';
import { LinkedText } from '../component/linked-text.tsx';
import type { QueueName } from '../name.ts';

type CauseProps = { readonly queue: QueueName; readonly of: Pick<TimeRow, 'culprit' | 'cause'> };

/** Why a pull request waits or is tested again. */
export function Cause({ queue, of: { culprit, cause } }: CauseProps) {
  if (cause === '') return null;
  return (
    <span className="small dimmed">
      <LinkedText queue={queue} text={`because ${culprit === null ? '' : `#${culprit} `}${cause}`} />
    </span>
  );
}
