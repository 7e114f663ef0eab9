// Failing on command: the next requests that match are answered with an error, late, or not at all.

export type Fault = {
  /** How many requests. Default 1. */
  readonly times?: number;
  /** Only these: by operation, such as `GET /repos/{owner}/{repo}` or `git-receive-pack`; default: all. */
  readonly operation?: string | RegExp;
  /**
   * - a status: answered so, as an overloaded GitHub does;
   * - `reset`: the connection is cut;
   * - `hang`: there is no answer until the client gives up or the server stops.
   */
  readonly how: number | 'reset' | 'hang';
  /** What a status comes with. */
  readonly message?: string;
  /** A page of HTML instead, as of something in between. */
  readonly page?: string;
  /** Each request once: a request that has met the fault passes from then on. `times` does not count. */
  readonly isOncePerRequest?: boolean;
  /** `after`: the request is carried out, and only its answer is lost. Default `before`. */
  readonly when?: 'before' | 'after';
};

export type Faults = {
  readonly add: (fault: Fault) => void;
  /** The fault that this request meets, which is one fewer then. */
  readonly take: (operation: string, request: string) => Fault | null;
  readonly clear: () => void;
};

export function createFaults(): Faults {
  let faults: { readonly fault: Fault; readonly met: Set<string>; left: number }[] = [];
  const matches = ({ operation }: Fault, name: string): boolean =>
    operation === undefined || (typeof operation === 'string' ? operation === name : operation.test(name));
  return {
    add: (fault) =>
      void faults.push({
        fault,
        met: new Set(),
        left: fault.isOncePerRequest === true ? Infinity : (fault.times ?? 1),
      }),
    take: (operation, request) => {
      const found = faults.find(({ fault, met }) => !met.has(request) && matches(fault, operation));
      if (found === undefined) return null;
      if (found.fault.isOncePerRequest === true) found.met.add(request);
      found.left -= 1;
      faults = faults.filter(({ left }) => left > 0);
      return found.fault;
    },
    clear: () => {
      faults = [];
    },
  };
}
