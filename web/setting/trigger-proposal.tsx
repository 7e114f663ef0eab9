// Offers a pull request that makes workflows run for test branches, and shows what is left to change by hand.

import { Anchor, Button, CopyButton, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import { Icon } from '../component/icon.tsx';
import { ErrorAlert } from '../component/query-result.tsx';
import type { QueueName } from '../name.ts';

type TriggerOfferProps = {
  readonly name: QueueName;
  /** Paths of the workflows. */
  readonly untriggered: readonly string[];
};

export function TriggerOffer({ name, untriggered }: TriggerOfferProps) {
  const proposal = useMutation({ mutationFn: () => call('proposeTriggers', name) });
  return (
    <Stack gap="xs" align="flex-start" mt="sm">
      <Text>
        Signalbox can open a pull request that adds the trigger for test branches to {untriggered.join(', ')}.
        It changes nothing else in these files.
      </Text>
      <Button variant="default" loading={proposal.isPending} onClick={() => proposal.mutate()}>
        Open a pull request
      </Button>
      {proposal.error !== null && <ErrorAlert error={proposal.error} />}
      {proposal.data !== undefined && <Proposed proposal={proposal.data} />}
    </Stack>
  );
}

type TriggerAnswer = ResponseOf<'proposeTriggers'>;

function Proposed({ proposal: { pullRequest, byHand } }: { readonly proposal: TriggerAnswer }) {
  const isNothing = pullRequest === null && byHand.length === 0;
  return (
    <div role="status" className="wide">
      {isNothing && <Text>Nothing is left to change.</Text>}
      {pullRequest !== null && (
        <Text>
          {pullRequest.isNew ? 'Signalbox opened ' : 'It is open already: '}
          <Anchor href={pullRequest.url} target="_blank" rel="noreferrer">
            pull request #{pullRequest.number}
          </Anchor>
          . Merge it, then check again.
        </Text>
      )}
      {byHand.map((file) => (
        <FileByHand key={file.path} file={file} />
      ))}
    </div>
  );
}

function FileByHand({ file }: { readonly file: TriggerAnswer['byHand'][number] }) {
  const { path, reason, editorUrl, text, isWholeFile } = file;
  return (
    <Stack gap="xs" align="flex-start" mt="sm">
      <Text>
        Signalbox did not change <code className="break">{path}</code>. {reason}
      </Text>
      <Text c="dimmed">
        {isWholeFile ? 'Replace the file with this text:' : 'Add these lines to the file:'}
      </Text>
      <pre className="file-text">{text}</pre>
      <Group gap="sm">
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={copied ? <Icon name="check" /> : null}
              onClick={copy}
            >
              <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
            </Button>
          )}
        </CopyButton>
        {editorUrl !== null && (
          <Anchor href={editorUrl} target="_blank" rel="noreferrer">
            Edit {path} at the Git host
          </Anchor>
        )}
      </Group>
    </Stack>
  );
}
