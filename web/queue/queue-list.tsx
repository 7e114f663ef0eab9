// The entries of a queue, in order: under test, waiting, not ready. Of a long queue only the rows around the
// visible part are in the page, so the browser's own search does not find the others: the search box above
// does.

import { Group, Stack, Text, TextInput } from '@mantine/core';
import { defaultRangeExtractor, type Range, useWindowVirtualizer } from '@tanstack/react-virtual';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { formatCount } from '../format.ts';
import { matchingPositions } from './queue-filter.ts';
import { queueKey, type QueueName } from '../name.ts';
import { useMay, useRunsInProgress, useUsualSeconds } from '../api/query.ts';
import type { StreamState } from '../api/stream.ts';
import { Empty, ErrorAlert } from '../component/query-result.tsx';
import type { TestingResult } from './checks.tsx';
import { groupOf, placeInGroup, type QueuedEntry, Row } from './queue-row.tsx';

/** Up to this length the whole queue is in the page. */
const wholeMax = 50;
/** Before it is measured, in pixels. */
const rowHeight = 41;
const overscanRows = 6;
/** A shorter queue needs no search. */
const searchFrom = 15;

type QueueEntriesProps = {
  readonly queue: QueueName;
  readonly entries: readonly QueuedEntry[];
  readonly state: StreamState;
};

type QueueListProps = QueueEntriesProps & {
  /** What is beside the search. */
  readonly controls: ReactNode;
};

export function QueueList({ controls, ...rest }: QueueListProps) {
  const { entries } = rest;
  const [searchText, setSearchText] = useSearchText();
  const positions = useMemo(() => matchingPositions(entries, searchText), [entries, searchText]);
  if (entries.length === 0)
    return (
      <Stack gap="sm">
        <Group>{controls}</Group>
        <Empty icon="merged" title="The queue is empty">
          Submitted pull requests appear here.
        </Empty>
      </Stack>
    );
  return (
    <Stack gap="sm">
      <Group gap="sm">
        {controls}
        {(entries.length >= searchFrom || searchText !== '') && (
          <TextInput
            aria-label="Find in the queue"
            placeholder="Find by number, title or author"
            type="search"
            w={300}
            maw="100%"
            value={searchText}
            onChange={(event) => setSearchText(event.currentTarget.value)}
          />
        )}
        <Text size="sm" c="dimmed" role="status">
          {searchText.trim() !== '' &&
            `${formatCount(positions.length, 'pull request')} of ${entries.length}`}
        </Text>
      </Group>
      {positions.length === 0 && (
        <Empty icon="queue" title="No pull request matches">
          The search covers numbers, titles and authors.
        </Empty>
      )}
      <Rows {...rest} positions={positions} />
    </Stack>
  );
}

/** The search text is part of the URL. */
function useSearchText(): readonly [string, (searchText: string) => void] {
  const { find = '' } = useSearch({ strict: false });
  const navigate = useNavigate();
  const [searchText, setSearchText] = useState(find);
  const set = (typed: string) => {
    setSearchText(typed);
    const search = typed.trim() === '' ? undefined : typed;
    void navigate({
      to: '.',
      search: (before) => ({ ...before, find: search }),
      replace: true,
      resetScroll: false,
    });
  };
  return [searchText, set];
}

type RowsProps = QueueEntriesProps & {
  /** Which of the entries are shown. */
  readonly positions: readonly number[];
};

function Rows({ queue, entries, positions, state }: RowsProps) {
  const key = queueKey(queue);
  // The same object for as long as it is the same queue, so that unchanged rows are not rendered again.
  const named = useMemo(() => queue, [key]);
  const runs = useRunsInProgress(named, state);
  const runByNumber = useMemo(() => mapRunsByNumber(runs.data ?? []), [runs.data]);
  const mayAct = useMay('submit');
  const usualSeconds = useUsualSeconds(named);
  const list = useRef<HTMLOListElement>(null);
  const focused = useFocusedNumber(list);
  const [top, setTop] = useState(0);
  // The top of the list decides which rows are around the window; a short queue is in the page as a whole.
  useLayoutEffect(() => {
    const element = list.current;
    if (element !== null && positions.length > wholeMax)
      setTop(Math.round(element.getBoundingClientRect().top + window.scrollY));
  });
  const numberAt = useCallback((index: number) => entries[positions[index]!]!.prNumber, [entries, positions]);
  const virtualizer = useWindowVirtualizer({
    count: positions.length,
    estimateSize: () => rowHeight,
    overscan: overscanRows,
    scrollMargin: top,
    getItemKey: numberAt,
    rangeExtractor: (range) =>
      rangeWith(range, () => positions.findIndex((_, at) => numberAt(at) === focused.current)),
  });
  const groupAt = (index: number) => {
    const entry = entries[positions[index]!]!;
    return groupOf(entry, runByNumber.get(entry.prNumber));
  };
  return (
    <>
      {runs.error !== null && <ErrorAlert error={runs.error} />}
      <ol
        className="plain queue-list"
        aria-label="Queued pull requests"
        ref={list}
        style={{ height: virtualizer.getTotalSize() }}
      >
        {virtualizer.getVirtualItems().map(({ index, start, key: number }) => {
          const position = positions[index]!;
          return (
            <Row
              key={number}
              queue={named}
              entry={entries[position]!}
              position={position}
              count={entries.length}
              run={runByNumber.get(Number(number))}
              usualSeconds={usualSeconds}
              {...placeInGroup(groupAt(index), index > 0 ? groupAt(index - 1) : null)}
              state={state}
              mayAct={mayAct}
              index={index}
              top={start - top}
              measure={virtualizer.measureElement}
            />
          );
        })}
      </ol>
      {positions.length > wholeMax && (
        <Text size="sm" c="dimmed">
          More rows load as you scroll.
        </Text>
      )}
    </>
  );
}

/** The rows around the window, or all of a short queue; always the row with the focus. */
function rangeWith(range: Range, focusedIndex: () => number): number[] {
  if (range.count <= wholeMax) return Array.from({ length: range.count }, (_, index) => index);
  const shown = defaultRangeExtractor(range);
  const kept = focusedIndex();
  return kept < 0 || shown.includes(kept) ? shown : [...shown, kept].toSorted((a, b) => a - b);
}

function mapRunsByNumber(runs: readonly TestingResult[]): ReadonlyMap<number, TestingResult> {
  const found = new Map<number, TestingResult>();
  for (const run of runs)
    for (const { prNumber } of run.testedPullRequests) if (!found.has(prNumber)) found.set(prNumber, run);
  return found;
}

/** The pull request whose row has the focus. */
function useFocusedNumber(list: React.RefObject<HTMLElement | null>): React.RefObject<number | null> {
  const focused = useRef<number | null>(null);
  useLayoutEffect(() => {
    const element = list.current;
    const note = (event: FocusEvent) => {
      const target = event.type === 'focusin' ? event.target : event.relatedTarget;
      const row = target instanceof Element ? target.closest<HTMLElement>('[data-number]') : null;
      focused.current = row === null ? null : Number(row.dataset['number']);
    };
    element?.addEventListener('focusin', note);
    element?.addEventListener('focusout', note);
    return () => {
      element?.removeEventListener('focusin', note);
      element?.removeEventListener('focusout', note);
    };
  }, [list]);
  return focused;
}
