// A dialog for one action: describes it, performs it, and shows an error.

import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queryClient } from '../api/query.ts';
import { ErrorAlert } from './query-result.tsx';
import { useNotice } from './notice.tsx';

type ActionDialogProps = {
  readonly title: string;
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isReady?: boolean;
  readonly run: () => Promise<unknown>;
  /** Shown when the action is done. */
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
}: ActionDialogProps) {
  const notify = useNotice();
  const mutation = useMutation({
    mutationFn: run,
    onSuccess: async () => {
      onClose();
      notify(done);
      await queryClient.invalidateQueries();
    },
  });
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !mutation.isPending) mutation.mutate();
        }}
      >
        <Stack>
          {children}
          {mutation.error !== null && <ErrorAlert error={mutation.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Go back
            </Button>
            <Button
              type="submit"
              color={isDangerous ? 'red.9' : 'blue.8'}
              loading={mutation.isPending}
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
