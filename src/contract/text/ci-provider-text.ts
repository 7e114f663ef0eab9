// CI systems whose jobs prove who they are, as people choose them.

import { type IdentityProvider, ciProviders, usualIssuers } from '#core/ci-job.ts';

const labels: Readonly<Record<IdentityProvider, string>> = {
  github_actions: 'GitHub Actions',
  forgejo_actions: 'Forgejo Actions',
  gitlab_ci: 'GitLab CI',
  buildkite: 'Buildkite',
};

/** What a pipeline is called there, and its form; none: jobs name their repository. */
const pipelineFields: Readonly<Partial<Record<IdentityProvider, readonly [label: string, form: string]>>> = {
  gitlab_ci: ['Project at GitLab', 'group/project'],
  buildkite: ['Pipeline at Buildkite', 'organization/pipeline'],
};

export const ciProviderChoices = ciProviders.map((value) => ({
  value,
  label: labels[value],
  /** Null: each installation has its own. */
  usualIssuer: usualIssuers[value],
  pipelineField: pipelineFields[value] ?? null,
}));
