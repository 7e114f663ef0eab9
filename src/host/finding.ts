// One thing that `signalbox doctor` found.

export type Finding = {
  readonly verdict: 'right' | 'wrong' | 'warning';
  readonly what: string;
  /** What to do about it; null where nothing is to be done. */
  readonly fix: string | null;
};

export const right = (what: string): Finding => ({ verdict: 'right', what, fix: null });
export const wrong = (what: string, fix: string): Finding => ({ verdict: 'wrong', what, fix });
export const warning = (what: string, fix: string): Finding => ({ verdict: 'warning', what, fix });
