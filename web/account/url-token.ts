// A token in the URL: `/app/#token=…`, as `signalbox demo` prints it. The part after the # is never sent to a
// server. The token is removed from the URL at once, and fills in the form. A person has to press the button,
// because a URL that signs in on its own would let anyone's link sign people in to another account.

const tokenLengthMax = 512;

function takeToken(): string {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  if (token !== '') history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  return token.length <= tokenLengthMax ? token : '';
}

export const tokenFromUrl: string = takeToken();
