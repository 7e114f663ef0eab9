// Loaded before everything else in a process whose clock is wrong by SOAK_CLOCK_MS milliseconds. What the process reads by
// `Date` is wrong; what PostgreSQL reads is right.

const offMs = Number(process.env['SOAK_CLOCK_MS'] ?? '0');
const RightDate = Date;

globalThis.Date = new Proxy(RightDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RightDate.now() + offMs] : args, newTarget) as Date,
  apply: () => new RightDate(RightDate.now() + offMs).toString(),
  get: (target, key) => {
    if (key === 'now') return () => target.now() + offMs;
    return Reflect.get(target, key) as unknown;
  },
});
