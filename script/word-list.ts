// Words and phrases that a reader of this field would have to learn, each with the word that takes its place. One list for
// `npm run counts` (code, schema, texts and comments) and `npm run lint:prose` (documentation). A word belongs here if it can
// be decided without its sentence; the rest is in the glossary (docs/reference/glossary.md) and left to the reader.

/** In names: of functions, types, variables, files, tables and columns. */
export const identifierWords: ReadonlyMap<string, string> = new Map([
  ['told', 'It meant seven things. Say which: posted, counted, notified, reported.'],
  ['tell', 'post (a status comment), report, send'],
  ['tells', 'reports, shows'],
  ['telling', 'status comment'],
  ['untold', 'due'],
  ['retold', 'translated (an error)'],
  ['words', 'text, message; comments and labels where they are read from a Git host'],
  ['word', 'check update; text'],
  ['look', 'reconcile'],
  ['shelf', 'cache'],
  ['anew', 'again'],
  ['obey', 'handle (a command)'],
  ['hear', 'receive, process'],
  ['heard', 'received, processed'],
  ['wish', 'request, options'],
  ['wishes', 'options, request, changes'],
  ['standing', 'situation'],
  ['trip', 'attempt'],
  ['trips', 'attempts'],
  ['heir', 'reaper'],
  ['fares', 'health, state'],
  ['befalls', 'faults'],
  ['waverers', 'flapping'],
  ['mend', 'fix'],
  ['mended', 'fixed'],
  ['speechless', 'unexplained'],
  ['misshapen', 'malformed'],
  ['spares', 'skipIfScheduled'],
  ['nobody', 'none, no one'],
  ['somebody', 'any, another'],
  ['whoever', 'anyone'],
  ['judge', 'classify (a test), check, decide'],
  ['judged', 'classified, checked, decided'],
  ['judgement', 'classification'],
]);

/**
 * Names that others use, which stay as they are: endpoints, environment variables and variables of a shell.
 */
export const publishedNames: ReadonlySet<string> = new Set([
  'listTrips',
  'ListTripsRequest',
  'ListTripsResponse',
  'SIGNALBOX_COMMAND_WORDS',
  'COMP_WORDS',
]);

/**
 * Names of JSON keys that others read, and of an account of the system. They stay where JSON is made or read, and only as the
 * name of a property or as a text.
 */
export const publishedKeys: ReadonlySet<string> = new Set(['trip', 'trips', 'Trip', 'nobody']);

/** In sentences: comments, texts, documentation. */
export const proseWords: ReadonlyMap<string, string> = new Map([
  // Persons for things: a pull request is not a person.
  ['whoever', 'a user who, anyone who'],
  ['whomever', 'anyone whom'],
  ['nobody', 'no one; no pull request'],
  ['somebody', 'someone; another pull request'],
  ['everybody', 'everyone; every pull request'],
  // Verbs of speech for what a program does.
  ['told', 'informed, reported, asked'],
  ['tells', 'reports, shows'],
  ['telling', 'reporting; status comment'],
  ['retold', 'translated'],
  ['untold', 'not yet reported'],
  ['heard', 'received'],
  ['hears', 'receives'],
  ['obey', 'handle, follow'],
  ['obeys', 'handles, follows'],
  ['obeyed', 'handled, followed'],
  // Words of another century.
  ['anew', 'again'],
  ['thereby', 'by this'],
  ['befall', 'happen to'],
  ['befalls', 'happens to'],
  ['mend', 'fix'],
  ['mends', 'fixes'],
  ['mended', 'fixed'],
  ['mending', 'fixing'],
  ['reckon', 'estimate'],
  ['reckons', 'estimates'],
  ['reckoned', 'estimated'],
  ['reckoning', 'estimate'],
  ['fares', 'does; its state'],
  ['misshapen', 'malformed'],
  ['heir', 'the process that takes over'],
  ['waverers', 'tests that flap'],
  ['speechless', 'without an explanation'],
  // One name per thing (glossary).
  ['trip', 'attempt'],
  ['trips', 'attempts'],
  ['shelf', 'cache'],
  ['machinery', 'infrastructure'],
  ['alarm', 'alert'],
  ['alarms', 'alerts'],
  ['evict', 'remove'],
  ['evicts', 'removes'],
  ['evicted', 'removed'],
  ['eviction', 'removal'],
  ['evictions', 'removals'],
  ['seal', 'encrypt'],
  ['seals', 'encrypts'],
  ['sealed', 'encrypted'],
  ['unseal', 'decrypt'],
]);

/** Phrases in sentences. A space stands for any white space, and for the marks before a line of a comment. */
export const phrases: ReadonlyMap<string, string> = new Map([
  ['go on', 'continue'],
  ['goes on', 'continues'],
  ['going on', 'happening; continuing'],
  ['went on', 'continued'],
  ['by itself', 'automatically, on its own, alone'],
  ['by themselves', 'automatically, on their own'],
  ['in line', 'queued; in the queue; in queue order'],
  ['came onto the branch', 'was merged'],
  ['comes onto the branch', 'is merged'],
  ['come onto the branch', 'are merged'],
  ['gets onto the branch', 'is merged'],
  ['lets us', 'allows Signalbox to'],
  ['let us', 'allow Signalbox to'],
  ['is away', 'is unreachable'],
  ['are away', 'are unreachable'],
  ['word of CI', 'check result, check update'],
  ['words of CI', 'check results, check updates'],
  ['look of CI', 'CI run'],
  ['by halves', 'by bisection'],
  ['stand still', 'stall'],
  ['stands still', 'is stalled'],
  ['taken out of the queue', 'removed (failed) or cancelled'],
  ['ends with 0', 'exits with status 0'],
  ['ends with 1', 'exits with status 1'],
  ['begins again', 'restarts'],
  ['begin again', 'restart'],
  ['is come', 'has come'],
]);

/** Words for the writer, not for the reader. "just before" and "just after" are about time. */
export const fillers =
  /\b(?:simply|just(?!\s+(?:before|after|now|been|as|because|so|in time))|eas(?:y|ily)|obvious(?:ly)?|of course|trivial(?:ly)?|straightforward)\b/gi;

/** Things that have one name in the glossary, and names that are written in one way. */
export const oneName: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  { pattern: /\bcode hosts?\b/gi, instead: 'Git host' },
  { pattern: /\bpredictive testing\b(?!\))/gi, instead: 'speculative testing' },
  { pattern: /\brequired (?:statuses|status checks)\b/gi, instead: 'required checks' },
  { pattern: /\bmerge proofs?\b|\blanding proofs?\b/gi, instead: 'attestation' },
  { pattern: /\bsweep(?:s|ing)?\b|\bswept\b/gi, instead: 'poll' },
  { pattern: /\bjudg(?:e|es|ed|ing|ement|ements)\b/gi, instead: 'classify, decide, check' },
  { pattern: /\bGithub\b|\bGit Hub\b/g, instead: 'GitHub' },
  { pattern: /\bPostgres\b/g, instead: 'PostgreSQL' },
  { pattern: /\bNodeJS\b|\bNode\.JS\b/g, instead: 'Node.js' },
  { pattern: /\bTypescript\b|\bJavascript\b/g, instead: 'TypeScript, JavaScript' },
];

/** Words that keep their capital in a heading. */
export const properNouns: ReadonlySet<string> = new Set(
  'Signalbox Gitea Forgejo Git Kubernetes Docker Compose Helm Prometheus Grafana Mergify Trunk Zuul Bazel Jenkins Keycloak Okta Slack Google Terraform Actions Enterprise Server Apache License Node Go Maven Gradle Jest Vitest Playwright Cypress Linux Connect App Secret Teams'.split(
    ' ',
  ),
);
