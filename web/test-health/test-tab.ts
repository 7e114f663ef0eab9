/** The lists on the page of tests. */
export const testTabs = ['flaky', 'broken', 'quarantined', 'search'] as const;
export type TestTab = (typeof testTabs)[number];

/** The filter of a list of tests, as it is in the URL. */
export type TestsSearch = {
  readonly repo?: string;
  readonly tab?: TestTab;
  /** Terms of the name, the file or the class. */
  readonly q?: string;
  readonly owner?: string;
  /** The token of a page; absent: the first. */
  readonly page?: string;
};

export const uploadStates = ['awaited', 'stored', 'ingested', 'failed'] as const;

export type UploadsSearch = {
  readonly repo?: string;
  readonly state?: (typeof uploadStates)[number];
  readonly problems?: true;
  readonly page?: string;
};
