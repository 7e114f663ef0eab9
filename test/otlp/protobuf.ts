// The wire form of protobuf, as far as a test reads it: fields by number, without a schema.

export type Field = {
  readonly number: number;
  /** Bytes of what has a length, else a number. */
  readonly value: Buffer | number;
};

export const textOf = (bytes: Buffer): string => bytes.toString('utf8');

export function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('a protobuf message ends within a number');
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('a protobuf message ends within a field');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = varint();
    const number = Math.floor(key / 8);
    switch (key % 8) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 1:
        fields.push({ number, value: Number(take(8).readBigUInt64LE()) });
        break;
      case 2:
        fields.push({ number, value: take(varint()) });
        break;
      case 5:
        fields.push({ number, value: take(4).readUInt32LE() });
        break;
      default:
        throw new Error(`a protobuf field of the unknown form ${key % 8}`);
    }
  }
  return fields;
}
