import { Button, Group, Text } from '@mantine/core';
import type { Page } from '#contract/common.ts';
import { formatCount } from '../format.ts';

type PagerProps = { readonly page: Page; readonly what: string; readonly onTurn: (token: string) => void };

/** Moves between pages with the page tokens of the server. */
export const Pager = ({ page, what, onTurn }: PagerProps) => (
  <Group justify="space-between">
    <Text size="sm" c="dimmed">
      {formatCount(page.total_rows, what)}, page {page.page_index + 1} of {Math.max(1, page.total_pages)}
    </Text>
    {page.total_pages > 1 && (
      <Group gap="xs">
        <Button
          variant="default"
          disabled={page.page_index === 0}
          onClick={() => onTurn(page.prev_page_token)}
        >
          Previous page
        </Button>
        <Button
          variant="default"
          disabled={page.next_page_token === ''}
          onClick={() => onTurn(page.next_page_token)}
        >
          Next page
        </Button>
      </Group>
    )}
  </Group>
);
