/** A binary heap: `first` is an item that no other comes before. */
export type Heap<Item> = {
  readonly size: () => number;
  readonly first: () => Item | undefined;
  readonly push: (item: Item) => void;
  readonly pop: () => Item | undefined;
  /** Call this after the first item was changed in place so that it comes later. */
  readonly sinkFirst: () => void;
};

export function createHeap<Item>(comesBefore: (one: Item, other: Item) => boolean): Heap<Item> {
  const items: Item[] = [];
  const sinkFirst = () => {
    const item = items[0]!;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && comesBefore(items[child + 1]!, items[child]!)) child++;
      if (!comesBefore(items[child]!, item)) break;
      items[hole] = items[child]!;
      hole = child;
    }
    items[hole] = item;
  };
  return {
    size: () => items.length,
    first: () => items[0],
    push: (item) => {
      let hole = items.length;
      while (hole > 0) {
        const parent = (hole - 1) >> 1;
        if (!comesBefore(item, items[parent]!)) break;
        items[hole] = items[parent]!;
        hole = parent;
      }
      items[hole] = item;
    },
    pop: () => {
      const first = items[0];
      const last = items.pop();
      if (items.length > 0) {
        items[0] = last!;
        sinkFirst();
      }
      return first;
    },
    sinkFirst,
  };
}
