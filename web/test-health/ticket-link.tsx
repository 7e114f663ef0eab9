import { Text } from '@mantine/core';
import { safeHref } from '../name.ts';

type TicketProps = {
  readonly test: {
    readonly ticket_id: string | null;
    readonly ticket?: { readonly html_url: string } | undefined;
  };
};

/** A ticket without a tracker or without a valid URL is shown as text. */
export function TicketLink({ test }: TicketProps) {
  const href = safeHref(test.ticket?.html_url);
  if (href === undefined)
    return test.ticket_id === null ? null : (
      <Text size="sm" className="break">{`Ticket ${test.ticket_id}`}</Text>
    );
  return (
    <Text size="sm">
      <a href={href} target="_blank" rel="noreferrer">
        Ticket
      </a>
    </Text>
  );
}
