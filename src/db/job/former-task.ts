// The names that tasks had in the release before. Its processes run beside those of this release during an upgrade and add jobs
// under these names. A worker of this release runs them; a worker of the release before leaves jobs with present names to it.

export const formerTasks = {
  tell: 'post-status',
  'obey-comment': 'handle-comment',
  'obey-label': 'handle-label',
} as const;
