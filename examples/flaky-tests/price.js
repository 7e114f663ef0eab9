const prices = { widget: 12, sprocket: 7 };

/** Asks for a price over a network that is slow at times. BAD_LUCK=1 makes this such a time. */
export async function priceOf(thing) {
  if (process.env.BAD_LUCK === '1') {
    const waitedMs = 500 + Math.floor(Math.random() * 100);
    throw new Error(`no answer after ${waitedMs} ms`);
  }
  return prices[thing];
}
