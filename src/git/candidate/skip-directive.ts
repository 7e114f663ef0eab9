// Directives in a commit message that keep CI from running, or from running all tests. A commit that Signalbox makes is pushed
// to be tested, and its landing starts deployments: the text of an author must not switch off either. Their text stays
// readable in round brackets, which no CI reads.
//
// GitHub docs, "Skipping workflow runs": [skip ci], [ci skip], [no ci], [skip actions], [actions skip], and
// the trailer `skip-checks: true`. Gitea's list (`SKIP_WORKFLOW_STRINGS` of its configuration) has the same
// five. Other CI systems use the same form with their own name ([skip travis], [vercel skip], [skip-ci]) or
// ***NO_CI*** (Azure Pipelines). `Signalbox-Test` is Signalbox's own (selection.ts).

const bracketed =
  /\[[ \t]?(skip[ \t_-]{1,2}[a-z][a-z_-]{0,30}|no[ \t_-]{1,2}ci|[a-z][a-z_-]{0,30}[ \t_-]{1,2}skip)[ \t]?\]/gi;
const starred = /\*{3}(no_ci)\*{3}/gi;
// Whitespace of any kind before it: what is trimmed later must not make a line of the text a trailer.
const trailer = /^[^\S\n\r\u2028\u2029]*((?:skip-checks|signalbox-test(?:-count|-repeats)?)[ \t]*:.*)$/gim;
/** Trailers that say that a person reviewed a change: an author does not write them for others. */
const vouching = /^[^\S\n\r\u2028\u2029]*((?:reviewed|approved|acked)-by[ \t]*:.*)$/gim;

/** The text without the directives that keep CI from running. */
export const withoutSkipDirectives = (text: string): string =>
  text.replaceAll(bracketed, '($1)').replaceAll(starred, '($1)').replaceAll(trailer, '($1)');

/** The text without trailers that vouch for the change in another person's name. */
export const withoutVouching = (text: string): string => text.replaceAll(vouching, '($1)');
