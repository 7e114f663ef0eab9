// Filters a list of tests; the filter is in the URL.

import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';

export type TestSearchFilter = { readonly q?: string; readonly owner?: string };

type TestFilterProps = {
  readonly chosen: TestSearchFilter;
  /** False: the only filter is the search text. */
  readonly hasOwner: boolean;
  readonly onChoose: (filter: TestSearchFilter) => void;
};

export function TestFilterForm({ chosen, hasOwner, onChoose }: TestFilterProps) {
  const [q, setQ] = useState(chosen.q ?? '');
  const [owner, setOwner] = useState(chosen.owner ?? '');
  const isChosen = chosen.q !== undefined || chosen.owner !== undefined;
  return (
    <form
      role="search"
      aria-label="Tests"
      onSubmit={(event) => {
        event.preventDefault();
        onChoose({
          ...(q.trim() !== '' && { q: q.trim() }),
          ...(hasOwner && owner.trim() !== '' && { owner: owner.trim() }),
        });
      }}
    >
      <Group align="flex-end">
        <TextInput
          label="Name, file or class"
          placeholder="checkout refund"
          className="grow"
          maxLength={200}
          value={q}
          onChange={(event) => setQ(event.currentTarget.value)}
        />
        {hasOwner && (
          <TextInput
            label="Code owner"
            placeholder="@acme/checkout"
            className="grow"
            maxLength={255}
            value={owner}
            onChange={(event) => setOwner(event.currentTarget.value)}
          />
        )}
        <Button type="submit">{hasOwner ? 'Filter' : 'Search'}</Button>
        {isChosen && (
          <Button variant="default" onClick={() => onChoose({})}>
            Clear
          </Button>
        )}
      </Group>
    </form>
  );
}
