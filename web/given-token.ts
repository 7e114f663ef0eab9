// A token that the address brings: `/app/#token=…`, as `signalbox demo` prints it. What follows the # is never sent to a
// server. It is taken out of the address at once, and fills in the form. A person has to press the button, because an
// address that signs in by itself would let anybody's link sign people in as somebody else.

const lengthMax = 512;

function takeToken(): string {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  if (token !== '') history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  return token.length <= lengthMax ? token : '';
}

export const givenToken: string = takeToken();
