/** @returns {{ add: (thing: string) => void, count: () => number, empty: () => void }} */
export function createBasket() {
  const things = [];
  return {
    add: (thing) => {
      things.push(thing);
    },
    count: () => things.length,
    empty: () => {
      things.length = 0;
    },
  };
}
