import { Link } from '@tanstack/react-router';
import { splitAtNumbers } from '../format.ts';
import { type QueueName, queueSearch } from '../name.ts';

type LinkedTextProps = { readonly queue: QueueName; readonly text: string };

/** A text in which each number of a pull request is a link to its page. */
export const LinkedText = ({ queue, text }: LinkedTextProps) =>
  splitAtNumbers(text).map((part, index) =>
    typeof part === 'string' ? (
      part
    ) : (
      <Link key={index} to="/pull-request" search={{ ...queueSearch(queue), number: part }}>
        #{part}
      </Link>
    ),
  );
