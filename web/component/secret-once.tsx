// A secret that was just made. It stays until it is closed on purpose: there is no second look.
import { Button, CopyButton, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { Icon } from './icon.tsx';

type SecretOnceProps = {
  readonly title: string;
  /** Of the field. */
  readonly label: string;
  readonly secret: string;
  /** What to do with it. */
  readonly advice: string;
  readonly onClose: () => void;
};

export const SecretOnce = ({ title, label, secret, advice, onClose }: SecretOnceProps) => (
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
        <Button onClick={onClose}>I have kept it</Button>
      </Group>
    </Stack>
  </Modal>
);
