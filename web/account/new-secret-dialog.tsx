// A secret that was just created. It stays until the user closes it: it is not shown again.
import { Button, CopyButton, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { Icon } from '../component/icon.tsx';

type NewSecretDialogProps = {
  readonly title: string;
  /** The label of the field. */
  readonly label: string;
  readonly secret: string;
  /** What to do with the secret. */
  readonly advice: string;
  readonly onClose: () => void;
};

export const NewSecretDialog = ({ title, label, secret, advice, onClose }: NewSecretDialogProps) => (
  <Modal
    opened
    onClose={onClose}
    title={title}
    closeOnClickOutside={false}
    closeButtonProps={{ 'aria-label': 'Close' }}
  >
    <Stack>
      <Text>{advice}</Text>
      <TextInput
        label={label}
        readOnly
        value={secret}
        onFocus={(event) => event.currentTarget.select()}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      />
      <Group justify="flex-end">
        <CopyButton value={secret}>
          {({ copied, copy }) => (
            <Button variant="default" leftSection={copied ? <Icon name="check" /> : null} onClick={copy}>
              <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
            </Button>
          )}
        </CopyButton>
        <Button onClick={onClose}>I have saved it</Button>
      </Group>
    </Stack>
  </Modal>
);
