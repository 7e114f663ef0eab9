// The issues that Signalbox writes at a Git host.

/** An issue of Signalbox: opened once, then edited, closed and reopened in place. */
export type OwnIssue = {
  /** Null until the issue is known to exist. */
  readonly number: number | null;
  /**
   * A call since this instant may have opened the issue without recording it: it is searched for by its mark
   * before another one is opened. Null: there was no such call.
   */
  readonly maybeSince: Date | null;
  /** Invisible in the text; the host adds it. */
  readonly mark: string;
  /** One line, at most 200 characters. */
  readonly title: string;
  /** Markdown, at most 60,000 characters. */
  readonly body: string;
  readonly isOpen: boolean;
};

export type IssueAnswer =
  | { readonly kind: 'written'; readonly number: number; readonly url: string }
  /** The repository has no issues, or the issue was deleted and is not needed any more. */
  | { readonly kind: 'cannot'; readonly reason: string };
