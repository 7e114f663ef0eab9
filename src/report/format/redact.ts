// Redacts secrets that tests print when they fail. Only unmistakable shapes are redacted: a text that is
// redacted too eagerly no longer shows why a test failed. Every pattern begins where a name begins and
// repeats one class only, so a text is scanned once.

const shapes: readonly (readonly [name: string, pattern: string])[] = [
  ['GitHub token', 'gh[opsur]_[A-Za-z0-9]{20,255}'],
  ['GitHub token', 'github_pat_[A-Za-z0-9_]{20,255}'],
  ['GitLab token', 'gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[A-Za-z0-9_-]{16,255}'],
  ['AWS key', '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])'],
  ['Slack token', 'xox[abeoprs]-[A-Za-z0-9-]{10,255}'],
  ['Slack token', 'xapp-[A-Za-z0-9-]{10,255}'],
  ['Stripe key', '(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,255}'],
  ['Google key', 'AIza[A-Za-z0-9_-]{35}'],
  ['npm token', 'npm_[A-Za-z0-9]{36}'],
  ['PyPI token', 'pypi-[A-Za-z0-9_-]{50,255}'],
  ['SendGrid key', 'SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,64}'],
  ['API key', 'sk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,255}'],
  ['Signalbox token', 'sbx_[A-Za-z0-9]{1,32}_[A-Za-z0-9-]{1,64}_[A-Za-z0-9_-]{8,128}'],
  ['JSON web token', 'eyJ[A-Za-z0-9_-]{8,4096}\\.eyJ[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{0,1024}'],
];

const pattern = new RegExp(`(?<![A-Za-z0-9_-])(?:${shapes.map(([, shape]) => `(${shape})`).join('|')})`, 'g');
/** `https://user:password@host` */
const password = /(?<=:\/\/[^\s/:@]{0,64}:)[^\s/:@]{1,256}(?=@)/g;
const pemBegin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const pemEnd = '-----END ';

const redacted = (what: string): string => `[redacted ${what}]`;

export function redactSecrets(text: string): string {
  let clean = text.replace(pattern, (...groups: readonly unknown[]) => {
    const index = shapes.findIndex((_, shape) => groups[shape + 1] !== undefined);
    return redacted(shapes[index]![0]);
  });
  if (clean.includes('://')) clean = clean.replace(password, redacted('password'));
  return clean.includes('PRIVATE KEY') ? redactKeys(clean) : clean;
}

/** From each beginning to its end; a key that is cut off is redacted to the end of the text. */
function redactKeys(text: string): string {
  let clean = '';
  let from = 0;
  for (const match of text.matchAll(pemBegin)) {
    if (match.index < from) continue;
    clean += text.slice(from, match.index) + redacted('private key');
    const end = text.indexOf(pemEnd, match.index + match[0].length);
    const close = end === -1 ? -1 : text.indexOf('-----', end + pemEnd.length);
    from = close === -1 ? text.length : close + 5;
  }
  return clean + text.slice(from);
}
