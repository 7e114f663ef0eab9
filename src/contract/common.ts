// Schemas that many requests and responses share.

import { z } from 'zod';
import { errorRegistry, type ErrorCode } from '#base/error.ts';
import { branchNameLengthMax, branchNamePattern, isBranchName } from '#core/queue/rule/branch-name.ts';

export const scopes = ['read', 'submit', 'admin', 'upload'] as const;
export type Scope = (typeof scopes)[number];

type PublishedSchema = Record<string, unknown>;

/** What the published document says of a schema, in place of what would be derived from it. */
export function published(json: PublishedSchema) {
  const override = ({ jsonSchema }: { jsonSchema: PublishedSchema }) => {
    const { description } = jsonSchema;
    for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
    Object.assign(jsonSchema, json, description === undefined ? {} : { description });
  };
  return { override };
}

/** One of the values, accepted in any case. */
export function lenientEnum<const Values extends readonly [string, ...string[]]>(values: Values) {
  const byLowerCase = new Map(values.map((value) => [value.toLowerCase(), value]));
  return z
    .preprocess(
      (input) => (typeof input === 'string' ? (byLowerCase.get(input.toLowerCase()) ?? input) : input),
      z.enum(values),
    )
    .meta(published({ type: 'string', enum: [...values] }));
}

// oxlint-disable-next-line no-control-regex -- control characters are what must be refused
const printable = /^[^\u0000-\u001f\u007f]*$/;
// oxlint-disable-next-line no-control-regex -- the same, and no blanks
const solid = /^[^\s\u0000-\u001f\u007f]+$/;

/** Text of one line: no control characters. */
export const line = (min: number, max: number) =>
  z.string().min(min).max(max).regex(printable, 'must not contain control characters');

export const part = (max: number) =>
  z.string().min(1).max(max).regex(solid, 'must not contain spaces or control characters');

/** No part of a path that leads elsewhere. */
const noDots = /^(?!(.*\/)?\.{1,2}(\/|$))/;

export const Repository = z
  .object({
    host: part(255).regex(/^[^/\\@]+$/, 'must be a host name, for example github.com'),
    owner: part(255)
      .regex(/^[^/]+(\/[^/]+)*$/, 'must not start or end with a slash')
      .regex(noDots, 'must not contain . or .. as a part'),
    name: part(255)
      .regex(/^[^/]+$/, 'must not contain a slash')
      .regex(noDots, 'must not be . or ..'),
  })
  .meta({ id: 'Repository', description: 'A repository. The owner can contain slashes (nested groups).' });

export const CommitSha = z.string().regex(/^[0-9a-fA-F]{7,64}$/, 'must be a commit sha');

const pullRequestNumberMax = 4_294_967_295;
/** The digits of 1 to 4294967295, with leading zeros. */
const digitsPattern =
  '^0*([1-9][0-9]{0,8}|[1-3][0-9]{9}|4[01][0-9]{8}|42[0-8][0-9]{7}|429[0-3][0-9]{6}|4294[0-8][0-9]{5}' +
  '|42949[0-5][0-9]{4}|429496[0-6][0-9]{3}|4294967[01][0-9]{2}|42949672[0-8][0-9]|429496729[0-5])$';

/** An integer, or a string of digits. */
export const PullRequestNumber = z
  .preprocess(
    (input) => (typeof input === 'string' && /^\d{1,15}$/.test(input) ? Number(input) : input),
    z.int().min(1).max(pullRequestNumberMax),
  )
  .meta(
    published({
      oneOf: [
        { type: 'integer', minimum: 1, maximum: pullRequestNumberMax },
        { type: 'string', pattern: digitsPattern },
      ],
    }),
  );

/** A full commit id, of either hash git uses. No flags: they would be lost in the published document. */
export const shaPattern = /^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/;

export const PullRequestRef = z
  .object({ number: PullRequestNumber })
  .meta({ id: 'PullRequestRef', description: 'A pull request by its number.' });

export const PullRequestWithSha = z
  .object({
    number: PullRequestNumber,
    sha: z
      .string()
      .regex(shaPattern, 'must be a full commit sha')
      .optional()
      .meta({ description: 'Head commit. Default: the current head at the Git host.' }),
  })
  .meta({ id: 'PullRequestWithSha' });

export const Branch = z
  .string()
  .refine(isBranchName, 'must be a branch name')
  .meta(
    published({ type: 'string', minLength: 1, maxLength: branchNameLengthMax, pattern: branchNamePattern }),
  );

/** The branch of one queue. */
export const queueRef = { repo: Repository, targetBranch: Branch };

/** ISO 8601 in, a Date out. */
export const InstantIn = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .meta(published({ type: 'string', format: 'date-time' }));

export const InstantOut = z.string().meta({
  description: 'ISO 8601, UTC, milliseconds.',
  ...published({ type: 'string', format: 'date-time' }),
});

export const Uuid = z.guid().meta(published({ type: 'string', format: 'uuid' }));

export const Empty = z.object({}).meta({ id: 'Empty', description: 'An empty object.' });

export const PageQuery = z
  .object({
    page_size: z.int().min(1).max(100).default(25).meta({ description: 'Items per page. Default: 25.' }),
    page_token: z.string().max(2048).default('').meta({ description: 'Absent or empty: the first page.' }),
  })
  .meta({ id: 'PageQuery' });

export const Page = z
  .object({
    total_rows: z.int(),
    total_pages: z.int(),
    next_page_token: z.string(),
    prev_page_token: z.string(),
    last_page_token: z.string(),
    page_index: z.int(),
  })
  .meta({
    id: 'Page',
    description:
      'Page tokens are opaque and valid only with the same filter; empty if there is no such page.',
  });
export type Page = z.infer<typeof Page>;

const errorCodes = Object.keys(errorRegistry) as [ErrorCode, ...ErrorCode[]];

export const ErrorBody = z
  .object({
    error: z.object({
      code: z.enum(errorCodes),
      message: z.string().meta({ description: 'A sentence for people: what happened and what to do next.' }),
      requestId: z.string(),
      details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    }),
  })
  .meta({ id: 'Error' });
export type ErrorBody = z.infer<typeof ErrorBody>;
