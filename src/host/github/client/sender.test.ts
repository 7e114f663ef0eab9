import { describe, expect, it } from 'vitest';
import { apiUrls, isCloud } from './sender.ts';

describe('the address of the API', () => {
  it.each([
    ['https://github.com', 'https://api.github.com', 'https://api.github.com/graphql', true],
    ['https://acme.ghe.com', 'https://api.acme.ghe.com', 'https://api.acme.ghe.com/graphql', true],
    [
      'https://git.acme.example',
      'https://git.acme.example/api/v3',
      'https://git.acme.example/api/graphql',
      false,
    ],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/api/v3', 'http://127.0.0.1:8080/api/graphql', false],
  ])('of %s is %s', (url, rest, graphql, isOfGithub) => {
    expect(apiUrls({ url })).toEqual({ rest, graphql });
    expect(isCloud({ url })).toBe(isOfGithub);
  });
});
