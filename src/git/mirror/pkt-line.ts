// Packet lines, the frames of git's wire protocol (gitprotocol-common, "pkt-line Format"): four hexadecimal digits that
// count themselves, then the content. 0000 is a flush, 0001 a delimiter and 0002 the end of an answer; none has content.

export type Packet = { readonly kind: 'line'; readonly text: string } | { readonly kind: 'flush' | 'other' };

export const flushPacket = '0000';
export const delimiterPacket = '0001';

export const packetLine = (text: string): string =>
  `${(Buffer.byteLength(text) + 5).toString(16).padStart(4, '0')}${text}\n`;

/** The packets of a whole answer; null if it does not consist of packets. */
export function parsePackets(bytes: Buffer): readonly Packet[] | null {
  const packets: Packet[] = [];
  for (let at = 0; at < bytes.length;) {
    const digits = bytes.toString('latin1', at, at + 4);
    if (!/^[0-9a-f]{4}$/i.test(digits)) return null;
    const length = Number.parseInt(digits, 16);
    if (length === 3 || at + length > bytes.length) return null;
    if (length < 4) packets.push({ kind: length === 0 ? 'flush' : 'other' });
    else packets.push({ kind: 'line', text: bytes.toString('utf8', at + 4, at + length).replace(/\n$/, '') });
    at += Math.max(4, length);
  }
  return packets;
}
