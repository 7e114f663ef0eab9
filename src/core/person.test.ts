import { describe, expect, it } from 'vitest';
import { type Claims, nameFrom, roleFrom, type RoleRules } from './person.ts';

const rules: RoleRules = {
  claim: 'groups',
  values: { admin: ['leads', 'ops'], submitter: ['engineers'], viewer: ['staff'] },
};

describe('the role of a person', () => {
  it.each<readonly [string, Claims, string | null]>([
    ['is the one that a group gives', { groups: ['staff'] }, 'viewer'],
    ['is the highest of several', { groups: ['staff', 'ops', 'engineers'] }, 'admin'],
    ['is given by a claim that is one text', { groups: 'engineers' }, 'submitter'],
    ['is none without the claim', {}, null],
    ['is none with other values', { groups: ['guests', 7, null] }, null],
    ['is none for what only begins like a group', { groups: ['ops-guests', 'OPS', ' ops'] }, null],
    ['is none for a claim of another form', { groups: { ops: true } }, null],
  ])('%s', (_name, claims, role) => {
    expect(roleFrom(claims, rules)).toBe(role);
  });

  it('is given to everyone by a star, and a higher one by a group all the same', () => {
    const open = { ...rules, values: { ...rules.values, viewer: ['*'] } };
    expect(roleFrom({}, open)).toBe('viewer');
    expect(roleFrom({ groups: ['leads'] }, open)).toBe('admin');
    expect(roleFrom({ groups: ['*'] }, rules)).toBe(null);
  });

  it('is given by an address only if the provider verified it', () => {
    const byEmail = { claim: 'email', values: { admin: ['ana@example.com'], submitter: [], viewer: [] } };
    const claims = { email: 'ana@example.com' };
    expect(roleFrom({ ...claims, email_verified: true }, byEmail)).toBe('admin');
    expect(roleFrom({ ...claims, email_verified: false }, byEmail)).toBe(null);
    expect(roleFrom(claims, byEmail)).toBe(null);
  });

  it('is not read from what every object has', () => {
    expect(roleFrom({}, { ...rules, claim: 'constructor' })).toBe(null);
  });
});

describe('the name of a person', () => {
  it.each<readonly [string, Claims, string]>([
    ['is the user name', { sub: '1', preferred_username: 'ana', email: 'a@b.example', name: 'Ana' }, 'ana'],
    ['else the address', { sub: '1', email: 'a@b.example', name: 'Ana' }, 'a@b.example'],
    ['else the full name', { sub: '1', name: 'Ana Lima' }, 'Ana Lima'],
    ['else the subject', { sub: 'u-17', preferred_username: ' \n ' }, 'u-17'],
    ['stays in one line', { preferred_username: 'ana\r\napi:root\u0000\u202E!' }, 'ana api:root !'],
    ['is bounded, by whole characters', { name: '🚂'.repeat(100) }, '🚂'.repeat(64)],
    ['is never empty', { sub: 7 }, 'unnamed user'],
  ])('%s', (_name, claims, name) => {
    expect(nameFrom(claims)).toBe(name);
  });
});
