/** The lists on the page of tests. */
export const testTabs = ['flaky', 'broken', 'quarantined'] as const;
export type TestTab = (typeof testTabs)[number];
