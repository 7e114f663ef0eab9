// Destinations to which events can be sent: by default only public addresses over https. An installation can allow more.

import ipaddr from 'ipaddr.js';

export type WebhookAllow = {
  /** Networks whose addresses are allowed, as `10.1.0.0/16`. */
  readonly networks: readonly string[];
  /** Host names, in lower case, that are allowed whatever their address is. */
  readonly hosts: readonly string[];
};

export type WebhookConfig = {
  readonly allow: WebhookAllow;
  /** How long an endpoint may take to answer. */
  readonly timeoutMs: number;
};

const hostPattern = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/** Returns the parsed list, or the problem with it. */
export function parseWebhookAllow(text: string): WebhookAllow | string {
  const networks: string[] = [];
  const hosts: string[] = [];
  for (const item of text.toLowerCase().split(/[\s,]+/)) {
    if (item === '') continue;
    if (ipaddr.isValidCIDR(item)) networks.push(item);
    else if (ipaddr.IPv4.isValidFourPartDecimal(item)) networks.push(`${item}/32`);
    else if (ipaddr.IPv6.isValid(item) && !item.includes('%')) networks.push(`${item}/128`);
    else if (/^[\d.]+(\/|$)/.test(item) || !hostPattern.test(item))
      return `must not contain ${item}, which is neither a network like 10.1.0.0/16 nor a host name`;
    else hosts.push(item);
  }
  return { networks, hosts };
}
