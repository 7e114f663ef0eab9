/** REST writes the login of an App's account with `[bot]`, GraphQL without. */
export const restLogin = ({
  __typename,
  login,
}: {
  readonly __typename: string;
  readonly login: string;
}): string => (__typename === 'Bot' && !login.endsWith('[bot]') ? `${login}[bot]` : login);
