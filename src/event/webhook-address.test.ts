import { describe, expect, it } from 'vitest';
import { checkAddress, permitted, type Target, parseWebhookTarget } from './webhook-address.ts';

const nothing = { networks: [], hosts: [] };

describe('an address', () => {
  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '192.0.0.192',
    '192.0.2.1',
    '198.18.0.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '::7f00:1',
    '::ffff:0:127.0.0.1',
    'fe80::1',
    'fe80::1%eth0',
    '2606:4700:4700::1111%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'fec0::1',
    'ff02::1',
    '100::1',
    '2001:db8::1',
    '3fff::1',
    '5f00::1',
    '2001::1',
    '2002:7f00:1::',
    '2002:a00:1::1',
    '2002:a9fe:a9fe::1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::7f00:1',
    '64:ff9b:1::808:808',
    'not an address',
    '',
  ])('that is not public is refused: %s', (address) => {
    expect(checkAddress(address, nothing).kind).toBe('refused');
  });

  it.each(['8.8.8.8', '::ffff:8.8.8.8', '2606:4700:4700::1111', '2002:808:808::1', '64:ff9b::808:808'])(
    'that is public is taken: %s',
    (address) => {
      expect(checkAddress(address, nothing).kind).toBe('public');
    },
  );

  it('of an allowed network is taken, also in its IPv6 form, and its neighbours are not', () => {
    const allowed = { networks: ['10.1.0.0/16', 'fd00:1::/32'], hosts: [] };
    expect(checkAddress('10.1.2.3', allowed).kind).toBe('allowed');
    expect(checkAddress('::ffff:10.1.2.3', allowed).kind).toBe('allowed');
    expect(checkAddress('fd00:1::9', allowed).kind).toBe('allowed');
    expect(checkAddress('10.2.0.1', allowed).kind).toBe('refused');
    expect(checkAddress('fd00:2::9', allowed).kind).toBe('refused');
  });
});

describe('where an endpoint may be', () => {
  it.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://0/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[fe80::1]/',
    'https://[fe80::1%25eth0]/',
    'https://[fc00::1]/',
    'https://[2002:7f00:1::]/',
    'https://[64:ff9b::7f00:1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://metadata.google.internal/',
    'https://localhost/',
    'https://localhost./',
    'https://api.localhost/',
    'https://ⓛocalhost/',
    'https://printer.local/',
    'https://database/',
    'https://user:secret@hooks.example/',
    'https://user@hooks.example/',
    'http://hooks.example/',
    'https://hooks.example:22/',
    'https://hooks.example:25/',
    'ftp://hooks.example/',
    'file:///etc/passwd',
    'hooks.example',
    '',
  ])('not at %s', (url) => {
    expect(parseWebhookTarget(url, nothing)).toBeTypeOf('string');
  });

  it.each([
    'https://hooks.example/signalbox?room=1',
    'https://hooks.example:8443/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
  ])('at %s', (url) => {
    expect(parseWebhookTarget(url, nothing)).not.toBeTypeOf('string');
  });

  it('at a name or network that the installation allows, also over http', () => {
    const allowed = { networks: ['10.1.0.0/16'], hosts: ['ci'] };
    expect(parseWebhookTarget('http://ci:8080/', allowed)).toMatchObject({ host: 'ci', isHostAllowed: true });
    expect(parseWebhookTarget('http://10.1.2.3:8080/', allowed)).toMatchObject({ host: '10.1.2.3' });
    expect(parseWebhookTarget('http://10.2.2.3:8080/', allowed)).toBeTypeOf('string');
    expect(parseWebhookTarget('http://8.8.8.8/', allowed)).toBeTypeOf('string');
    expect(parseWebhookTarget('http://database/', allowed)).toBeTypeOf('string');
  });

  it('only at those addresses of a name that may be connected to', () => {
    const allowed = { networks: ['10.1.0.0/16'], hosts: [] };
    const found = ['127.0.0.1', '8.8.8.8', '10.1.0.1'].map((address) => ({ address }));
    const secure = parseWebhookTarget('https://hooks.example/', allowed) as Target;
    expect(permitted(secure, found, allowed)).toEqual([{ address: '8.8.8.8' }, { address: '10.1.0.1' }]);
    const plain = parseWebhookTarget('http://hooks.example/', allowed) as Target;
    expect(permitted(plain, found, allowed)).toEqual([{ address: '10.1.0.1' }]);
    expect(permitted(plain, [{ address: '8.8.8.8' }], allowed)).toMatch(/over https/);
    expect(permitted(secure, [{ address: '::1' }], allowed)).toMatch(/resolves to ::1, which is not/);
  });
});
