// A dialog that does one thing: says what will happen, does it, and says what went wrong.

import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queryClient } from '../query.ts';
import { Problem } from './answer.tsx';
import { useNotice } from './notice.tsx';

type DialogProps = {
  readonly title: string;
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isReady?: boolean;
  readonly run: () => Promise<unknown>;
  /** Said when it is done. */
  readonly done: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

export function Dialog({
  title,
  action,
  isDangerous = false,
  isReady = true,
  run,
  done,
  onClose,
  children,
}: DialogProps) {
  const say = useNotice();
  const doing = useMutation({
    mutationFn: run,
    onSuccess: async () => {
      onClose();
      say(done);
      await queryClient.invalidateQueries();
    },
  });
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !doing.isPending) doing.mutate();
        }}
      >
        <Stack>
          {children}
          {doing.error !== null && <Problem error={doing.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Leave it
            </Button>
            <Button
              type="submit"
              color={isDangerous ? 'red.9' : 'blue.8'}
              loading={doing.isPending}
              disabled={!isReady}
            >
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
