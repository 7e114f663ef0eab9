/** Reads `github.com/acme/widgets, …`; the owner may hold slashes. */
export const parseRepositories = (text: string) =>
  text.split(',').flatMap((typed) => {
    const [host = '', ...rest] = typed.trim().split('/');
    const name = rest.pop() ?? '';
    return host === '' || name === '' || rest.length === 0 ? [] : [{ host, owner: rest.join('/'), name }];
  });
