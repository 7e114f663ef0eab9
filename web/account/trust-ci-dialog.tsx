// The dialog that lets CI jobs in without a stored token.

import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ciProviderChoices } from '#contract/text/ci-provider-text.ts';
import { call } from '../api/api.ts';
import { Dialog } from '../component/dialog.tsx';
import { parseRepositories } from './parse-repositories.ts';

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

const nothing = { name: '', issuer: '', repositories: '', pipeline: '', branches: '' };
type Typed = typeof nothing;
type CiChoice = (typeof ciProviderChoices)[number];

export function TrustCiDialog({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState(nothing);
  const [choice, setChoice] = useState<CiChoice>(ciProviderChoices[0]!);
  const field = (name: keyof Typed) => ({
    value: typed[name],
    onChange: (event: { readonly currentTarget: { readonly value: string } }) => {
      const { value } = event.currentTarget;
      setTyped((before) => ({ ...before, [name]: value }));
    },
  });
  return (
    <Dialog
      title="Trust a CI system"
      action="Trust its jobs"
      isReady={isComplete(typed, choice)}
      run={() => call('trustCi', requestOf(typed, choice))}
      done="Its jobs upload without a stored token from now on."
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="What timelines and the audit log call these jobs."
        required
        data-autofocus
        maxLength={100}
        {...field('name')}
      />
      <Select
        label="CI system"
        data={ciProviderChoices.map(({ value, label }) => ({ value, label }))}
        value={choice.value}
        allowDeselect={false}
        onChange={(value) => setChoice(ciProviderChoices.find((one) => one.value === value) ?? choice)}
      />
      <TextInput
        label="Repositories"
        description={
          choice.pipelineField === null
            ? 'Whose jobs are let in: host/owner/name, separated by commas.'
            : 'What the pipeline tests: host/owner/name.'
        }
        required
        {...field('repositories')}
      />
      {choice.pipelineField !== null && (
        <TextInput
          label={choice.pipelineField[0]}
          description={choice.pipelineField[1]}
          required
          {...field('pipeline')}
        />
      )}
      <TextInput
        label="Branches"
        description="Only these branches may upload: patterns, separated by commas. Empty: every branch, and pull requests."
        {...field('branches')}
      />
      <TextInput
        label="Issuer"
        description={
          choice.usualIssuer === null
            ? 'The URL that identity tokens have in their claim iss.'
            : `Empty: ${choice.usualIssuer}. Name another one for a server of your own.`
        }
        required={choice.usualIssuer === null}
        {...field('issuer')}
      />
    </Dialog>
  );
}

const isComplete = (typed: Typed, { usualIssuer, pipelineField }: CiChoice): boolean =>
  typed.name.trim() !== '' &&
  parseRepositories(typed.repositories).length > 0 &&
  (usualIssuer !== null || typed.issuer.trim() !== '') &&
  (pipelineField === null || typed.pipeline.trim() !== '');

function requestOf(typed: Typed, { value, pipelineField }: CiChoice) {
  const branches = splitList(typed.branches);
  const issuer = typed.issuer.trim();
  return {
    name: typed.name.trim(),
    provider: value,
    repositories: parseRepositories(typed.repositories),
    ...(issuer !== '' && { issuer }),
    ...(pipelineField !== null && { pipeline: typed.pipeline.trim() }),
    ...(branches.length > 0 && { branches }),
  };
}
