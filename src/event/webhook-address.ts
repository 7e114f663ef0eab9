// Which addresses events may be sent to. Otherwise a person who may create an endpoint could make the service
// call what only the service can reach: itself, its database, the metadata address of a cloud.
//
// An address is checked twice: as it is written, when the endpoint is created, and as the name resolves, when
// a connection is opened (webhook-send.ts). Only the second protects against a name that resolves differently
// later.

import ipaddr from 'ipaddr.js';

/** What an installation allows in addition to public addresses over https. */
export type Allowed = { readonly networks: readonly string[]; readonly hosts: readonly string[] };

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Everything on the public internet in IPv6 is in this network so far. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** The IPv4 address that an IPv6 address leads to by translation, if it does. */
function embedded(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  const bytes = address.toByteArray();
  const at = (start: number) => new ipaddr.IPv4(bytes.slice(start, start + 4));
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  switch (address.range()) {
    // NAT64 of the well-known prefix; those of local prefixes are not public.
    case 'rfc6052':
      return address.match(ipaddr.IPv6.parseCIDR('64:ff9b::/96')) ? at(12) : null;
    case '6to4':
      return at(2);
    default:
      return null;
  }
}

function isPublic(address: Address): boolean {
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  if (address.zoneId !== undefined) return false;
  const inner = embedded(address);
  if (inner !== null) return isPublic(inner);
  return address.range() === 'unicast' && address.match(globalUnicast);
}

function isInNetwork(address: Address, network: string): boolean {
  const [base, bits] = ipaddr.parseCIDR(network);
  if (address.kind() !== base.kind()) return false;
  return address.match(base, bits);
}

/** Whether an allowed network contains the address, or the IPv4 address that it maps in IPv6 form. */
function isAllowedAddress(address: Address, { networks }: Allowed): boolean {
  const plain =
    address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
  return networks.some((network) => isInNetwork(plain, network));
}

export type IpAccess =
  | { readonly kind: 'public' }
  /** The installation allows it: then https is not required either. */
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly why: string };

/** An address that a name resolved to, or that was written out. */
export function checkAddress(text: string, allowed: Allowed): IpAccess {
  if (!ipaddr.isValid(text)) return { kind: 'refused', why: `${text} is not an address` };
  const address = ipaddr.parse(text);
  if (isAllowedAddress(address, allowed)) return { kind: 'allowed' };
  if (isPublic(address)) return { kind: 'public' };
  return { kind: 'refused', why: `${text} is not a public address` };
}

/** Names that are never public, whatever they resolve to. */
const localName = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|localdomain|home\.arpa)$/;

export type Target = {
  readonly url: URL;
  /** Without the brackets of IPv6 and without a dot at its end. */
  readonly host: string;
  /** The host is on the installation's list, whatever its address is. */
  readonly isHostAllowed: boolean;
};

const refusal = (why: string): string => `${why} An operator can allow it with SIGNALBOX_WEBHOOK_ALLOW.`;

/** The URL of an endpoint, or why it is refused. Its resolved address is checked when connecting. */
export function parseWebhookTarget(text: string, allowed: Allowed): Target | string {
  if (!URL.canParse(text)) return 'The URL is not valid. Use one like https://hooks.example/signalbox.';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'The URL must start with https://.';
  if (url.username !== '' || url.password !== '')
    return 'The URL must not contain a user name or password. Signalbox signs its requests, so that a receiver can verify them.';
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isHostAllowed = allowed.hosts.includes(host);
  const literal = ipaddr.isValid(host) ? checkAddress(host, allowed) : null;
  if (literal?.kind === 'refused' && !isHostAllowed) return refusal(`${host} is not a public address.`);
  const isAllowed = isHostAllowed || literal?.kind === 'allowed';
  if (!isAllowed && literal === null && (!host.includes('.') || localName.test(host)))
    return refusal(`${host} is not a public name.`);
  // A name over http may still resolve into an allowed network: the connection decides.
  if (!isAllowed && url.protocol === 'http:' && (literal !== null || allowed.networks.length === 0))
    return refusal('The URL must start with https://.');
  const port = url.port === '' ? 443 : Number(url.port);
  if (!isAllowed && port < 1024 && port !== 443 && port !== 80)
    return `Signalbox does not send requests to port ${port}.`;
  return { url, host, isHostAllowed };
}

/** The addresses of a name that may be connected to; or why none may. */
export function permitted<Found extends { readonly address: string }>(
  { url, host, isHostAllowed }: Target,
  found: readonly Found[],
  allowed: Allowed,
): readonly Found[] | string {
  if (isHostAllowed) return found;
  const verdicts = found.map((one) => ({ one, verdict: checkAddress(one.address, allowed) }));
  const isSecure = url.protocol === 'https:';
  const good = verdicts.filter(
    ({ verdict }) => verdict.kind === 'allowed' || (verdict.kind === 'public' && isSecure),
  );
  if (good.length > 0) return good.map(({ one }) => one);
  const refused = verdicts.find(({ verdict }) => verdict.kind === 'refused');
  if (refused !== undefined)
    return `${host} resolves to ${refused.one.address}, which is not a public address`;
  return found.length === 0 ? `${host} does not resolve to an address` : `${host} must be called over https`;
}
