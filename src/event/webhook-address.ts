// Which addresses events may be sent to. Whoever may make an endpoint could otherwise have the service call what only
// the service can reach: itself, its database, the metadata address of a cloud.
//
// An address is looked at twice: as it is written, when the endpoint is made, and as the name resolves, when a
// connection is made (webhook-send.ts). Only the second is protection against a name that changes its answer.

import ipaddr from 'ipaddr.js';

/** What an installation allows beside public addresses over https. */
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

/** Whether an allowed network holds it: as it is, or as what it stands for if it is an IPv4 address in IPv6 form. */
function isAllowedAddress(address: Address, { networks }: Allowed): boolean {
  const plain =
    address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
  return networks.some((network) => isInNetwork(plain, network));
}

export type Verdict =
  | { readonly kind: 'public' }
  /** An installation says so: then https is not asked for either. */
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly why: string };

/** An address that a name resolved to, or that was written out. */
export function judgeAddress(text: string, allowed: Allowed): Verdict {
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
  /** The host is on the list of the installation, whatever its address is. */
  readonly isHostAllowed: boolean;
};

const refusal = (why: string): string => `${why} The list of the installation is SIGNALBOX_WEBHOOK_ALLOW.`;

/** The address of an endpoint, or why events may not go there. What its name resolves to is judged when connecting. */
export function targetOf(text: string, allowed: Allowed): Target | string {
  if (!URL.canParse(text)) return 'It is not an address like https://hooks.example/signalbox.';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'It must begin with https://.';
  if (url.username !== '' || url.password !== '')
    return 'It must hold no user name and no password: requests are signed, which is how a receiver knows them.';
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isHostAllowed = allowed.hosts.includes(host);
  const literal = ipaddr.isValid(host) ? judgeAddress(host, allowed) : null;
  if (literal?.kind === 'refused' && !isHostAllowed) return refusal(`${host} is not a public address.`);
  const isAllowed = isHostAllowed || literal?.kind === 'allowed';
  if (!isAllowed && literal === null && (!host.includes('.') || localName.test(host)))
    return refusal(`${host} is not a public name.`);
  // A name over http may still resolve into an allowed network: the connection decides.
  if (!isAllowed && url.protocol === 'http:' && (literal !== null || allowed.networks.length === 0))
    return refusal('It must begin with https://.');
  const port = url.port === '' ? 443 : Number(url.port);
  if (!isAllowed && port < 1024 && port !== 443 && port !== 80) return `Events are not sent to port ${port}.`;
  return { url, host, isHostAllowed };
}

/** Those of the addresses of a name that may be connected to; or why none may. */
export function permitted<Found extends { readonly address: string }>(
  { url, host, isHostAllowed }: Target,
  found: readonly Found[],
  allowed: Allowed,
): readonly Found[] | string {
  if (isHostAllowed) return found;
  const verdicts = found.map((one) => ({ one, verdict: judgeAddress(one.address, allowed) }));
  const isSecure = url.protocol === 'https:';
  const good = verdicts.filter(
    ({ verdict }) => verdict.kind === 'allowed' || (verdict.kind === 'public' && isSecure),
  );
  if (good.length > 0) return good.map(({ one }) => one);
  const refused = verdicts.find(({ verdict }) => verdict.kind === 'refused');
  if (refused !== undefined)
    return `${host} resolves to ${refused.one.address}, which is not a public address`;
  return found.length === 0 ? `${host} resolves to nothing` : `${host} must be called over https`;
}
