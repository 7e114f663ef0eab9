// The name of a CI job without its shard: the shards of a job run on one platform, and a test may move between them.
// Masked is only what nothing but a shard is called: "3/8", "3 of 8", "shard 3", "chunk-3". Other numbers stay: in
// "test (20)" the number may be a version, and another version is another platform.

const shard =
  /\b(?:\d{1,4} ?(?:\/|of) ?\d{1,4}|(?:shard|chunk|split|slice|partition)[ :_#-]{0,2}\d{1,4})\b/giu;

export const withoutShard = (job: string): string => job.replaceAll(shard, '*');
