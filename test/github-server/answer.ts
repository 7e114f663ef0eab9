// What a route answers with, and GitHub's ways to say no.

export type Answer = {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Thrown where a request ends early. */
export class Refusal extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`answered ${answer.status}`);
    this.answer = answer;
  }
}

const documentation = 'https://docs.github.com/rest';

export const refused = (status: number, message: string, more: object = {}): Answer => ({
  status,
  body: { message, ...more, documentation_url: documentation, status: String(status) },
});

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (body: unknown): Answer => ({ status: 201, body });
export const noContent: Answer = { status: 204 };

export const notFound = () => new Refusal(refused(404, 'Not Found'));

type Problem = { readonly resource: string; readonly field?: string; readonly message?: string };

/** 422, as GitHub words it. */
export const invalid = ({ resource, field, message }: Problem) =>
  new Refusal(
    refused(422, 'Validation Failed', {
      errors: [
        {
          resource,
          code: message === undefined ? 'invalid' : 'custom',
          ...(field === undefined ? {} : { field }),
          ...(message === undefined ? {} : { message }),
        },
      ],
    }),
  );
