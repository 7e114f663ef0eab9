import { githubAppCredentials } from '../connection.ts';
import { type AccessMethod, type HostKind, tokenAccess } from '../host-kind.ts';

const appAccess: AccessMethod = {
  options: {
    'app-id': { value: 'n', text: 'number of the App' },
    'installation-id': { value: 'n', text: 'number of its installation; of several: N,M' },
    'private-key-file': { value: 'file', text: 'private key of the App' },
  },
  note: `If the App is installed on several accounts of the organization, use --installation-id N,M. If another
    organization is connected with the same App, the webhooks of both go to one URL.`,
  read: (values) => {
    const appId = Number(values['app-id']);
    const installationIds = values['installation-id']!.split(',').map(Number);
    if (![appId, ...installationIds].every((id) => Number.isInteger(id) && id > 0))
      return { mistake: '--app-id and --installation-id take numbers above 0.' };
    return githubAppCredentials({ appId, installationIds, privateKey: values['private-key-file']! });
  },
};

export const githubKind: HostKind = {
  title: 'GitHub',
  exampleUrl: 'https://github.com',
  isKnownName: (hostName) => hostName === 'github.com' || hostName.endsWith('.ghe.com'),
  access: [appAccess, tokenAccess],
  loadRegistration: async () => (await import('./host.ts')).githubRegistration,
  load: async () => (await import('./host.ts')).createGithubHost,
};
