// The line of a queue, in its order: what is under test, what waits, what is not ready. Of a long line only the rows
// around the window are in the page, so the browser's own search does not find the others: the box above it does.

import { Stack, Text, TextInput } from '@mantine/core';
import { defaultRangeExtractor, type Range, useWindowVirtualizer } from '@tanstack/react-virtual';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { countOf } from '../format.ts';
import { matchingPlaces } from '../line-filter.ts';
import { queueKey, type QueueName } from '../name.ts';
import { useMay, useRunsUnderWay } from '../query.ts';
import type { StreamState } from '../stream.ts';
import { Empty, Problem } from './answer.tsx';
import type { TestRun } from './checks.tsx';
import { type Entry, Row } from './line-row.tsx';

/** Up to here the whole line is in the page. */
const wholeMax = 50;
/** Before it is measured, in pixels. */
const rowHeight = 92;
const rowGap = 8;
const rowsBeyond = 6;
/** A shorter line is found through by eye. */
const filterFrom = 15;

type LineProps = {
  readonly queue: QueueName;
  readonly entries: readonly Entry[];
  readonly state: StreamState;
};

export function Line({ queue, entries, state }: LineProps) {
  const [wanted, setWanted] = useFind();
  const places = useMemo(() => matchingPlaces(entries, wanted), [entries, wanted]);
  if (entries.length === 0)
    return (
      <Empty icon="merged" title="The queue is empty">
        Everything that was submitted has landed or left.
      </Empty>
    );
  return (
    <Stack gap="sm">
      {(entries.length >= filterFrom || wanted !== '') && (
        <TextInput
          label="Find in the line"
          description={
            wanted.trim() === ''
              ? 'By number, title or author'
              : `${countOf(places.length, 'pull request')} of ${entries.length}`
          }
          inputWrapperOrder={['label', 'input', 'description']}
          descriptionProps={{ role: 'status' }}
          type="search"
          maw={420}
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      {places.length === 0 && (
        <Empty icon="line" title="Nothing in the line matches">
          It is looked for in numbers, titles and authors.
        </Empty>
      )}
      <Rows queue={queue} entries={entries} places={places} state={state} />
    </Stack>
  );
}

/** What is looked for is part of the address. */
function useFind(): readonly [string, (wanted: string) => void] {
  const { find = '' } = useSearch({ strict: false });
  const navigate = useNavigate();
  const [wanted, setWanted] = useState(find);
  const set = (typed: string) => {
    setWanted(typed);
    const search = typed.trim() === '' ? undefined : typed;
    void navigate({
      to: '.',
      search: (before) => ({ ...before, find: search }),
      replace: true,
      resetScroll: false,
    });
  };
  return [wanted, set];
}

type RowsProps = LineProps & {
  /** Which of the entries are shown. */
  readonly places: readonly number[];
};

function Rows({ queue, entries, places, state }: RowsProps) {
  const key = queueKey(queue);
  // The same object for as long as it is the same queue: rows that did not change are not rendered again.
  const named = useMemo(() => queue, [key]);
  const runs = useRunsUnderWay(named, state);
  const runOf = useMemo(() => byNumber(runs.data ?? []), [runs.data]);
  const mayAct = useMay('submit');
  const list = useRef<HTMLOListElement>(null);
  const focused = useFocusedNumber(list);
  const [top, setTop] = useState(0);
  // Where the list begins decides which rows are around the window, and of a short line all are in the page.
  useLayoutEffect(() => {
    const element = list.current;
    if (element !== null && places.length > wholeMax)
      setTop(Math.round(element.getBoundingClientRect().top + window.scrollY));
  });
  const numberAt = useCallback((index: number) => entries[places[index]!]!.prNumber, [entries, places]);
  const virtualizer = useWindowVirtualizer({
    count: places.length,
    estimateSize: () => rowHeight,
    gap: rowGap,
    overscan: rowsBeyond,
    scrollMargin: top,
    getItemKey: numberAt,
    rangeExtractor: (range) =>
      rangeWith(range, () => places.findIndex((_, at) => numberAt(at) === focused.current)),
  });
  return (
    <>
      {runs.error !== null && <Problem error={runs.error} />}
      <ol
        className="plain line"
        aria-label="The line"
        ref={list}
        style={{ height: virtualizer.getTotalSize() }}
      >
        {virtualizer.getVirtualItems().map(({ index, start, key: number }) => {
          const place = places[index]!;
          return (
            <Row
              key={number}
              queue={named}
              entry={entries[place]!}
              place={place}
              count={entries.length}
              run={runOf.get(Number(number))}
              state={state}
              mayAct={mayAct}
              index={index}
              top={start - top}
              measure={virtualizer.measureElement}
            />
          );
        })}
      </ol>
      {places.length > wholeMax && (
        <Text size="sm" c="dimmed">
          The rows of a long line come as you scroll.
        </Text>
      )}
    </>
  );
}

/** The rows around the window, or all of a short line; the one with the focus always. */
function rangeWith(range: Range, focusedIndex: () => number): number[] {
  if (range.count <= wholeMax) return Array.from({ length: range.count }, (_, index) => index);
  const shown = defaultRangeExtractor(range);
  const kept = focusedIndex();
  return kept < 0 || shown.includes(kept) ? shown : [...shown, kept].toSorted((a, b) => a - b);
}

function byNumber(runs: readonly TestRun[]): ReadonlyMap<number, TestRun> {
  const found = new Map<number, TestRun>();
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
