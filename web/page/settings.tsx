// The settings of a queue: users read them, administrators change them.

import { Alert, Button, Stack, Text, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { RequestOf, ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import { QueryResult } from '../component/query-result.tsx';
import { Dialog } from '../component/dialog.tsx';
import { Icon } from '../component/icon.tsx';
import { SettingForm } from '../setting/setting-form.tsx';
import { QueueBreadcrumbs } from '../component/breadcrumbs.tsx';
import { median } from '../format.ts';
import { queueKey, type QueueName, queueOfSearch, queueSearch } from '../name.ts';
import { useMay, useQueue } from '../api/query.ts';
import { listQueueCautions, describeSettingEffect, queueSettingForm } from '../setting/queue-setting.ts';
import { valueAt } from '#contract/setting-path.ts';

const route = getRouteApi('/settings');

export function SettingsPage() {
  const name = queueOfSearch(route.useSearch());
  const queue = useQueue(name, 'live');
  const mayAdminister = useMay('admin');
  return (
    <Stack key={queueKey(name)}>
      <title>{`Settings of ${name.repo.name} ${name.targetBranch} · Signalbox`}</title>
      <QueueBreadcrumbs queue={name} />
      <Title order={1} size="h2" className="break">
        Settings of {name.repo.owner}/{name.repo.name} <span className="branch">{name.targetBranch}</span>
      </Title>
      {!mayAdminister && (
        <Alert variant="outline" icon={<Icon name="shield" />} title="These settings are read-only for you">
          You need the admin role to change them.
        </Alert>
      )}
      <QueryResult query={queue} loading="Loading the settings">
        {(data) => (
          <>
            <QueueForm name={name} queue={data} isEditable={mayAdminister} />
            {mayAdminister && <CheckRepository name={name} />}
            {mayAdminister && <DeleteQueue name={name} />}
          </>
        )}
      </QueryResult>
    </Stack>
  );
}

type QueueFormProps = {
  readonly name: QueueName;
  readonly queue: ResponseOf<'getQueue'>;
  readonly isEditable: boolean;
};

function QueueForm({ name, queue, isEditable }: QueueFormProps) {
  const medianRunSeconds = useMedianRun(name);
  const fields = queueSettingForm.flatMap((group) => group.fields);
  const saved = Object.fromEntries(fields.map(({ path }) => [path, valueAt(queue, path)]));
  return (
    <SettingForm
      groups={queueSettingForm}
      saved={saved}
      isEditable={isEditable}
      effectOf={(path, values) => describeSettingEffect(path, values, { medianRunSeconds })}
      cautionsOf={listQueueCautions}
      save={({ requiredStatuses, ...rest }) =>
        call('updateQueue', {
          ...name,
          ...rest,
          ...(requiredStatuses === null && { deleteRequiredStatuses: true }),
          ...(Array.isArray(requiredStatuses) && { requiredStatuses: requiredStatuses as string[] }),
        } satisfies RequestOf<'updateQueue'>)
      }
    />
  );
}

const weekMs = 7 * 86_400_000;

/** The median of the newest passed runs of a week, in seconds. */
function useMedianRun(name: QueueName): number | null {
  const runs = useQuery({
    queryKey: ['queue', queueKey(name), 'median-run'],
    queryFn: async () => {
      const since = new Date(Date.now() - weekMs);
      const { testingResults } = await call('listMergeQueueTestingResults', {
        ...name,
        since,
        offset: 0,
        take: 50,
      });
      return median(
        testingResults.flatMap(({ status, createdAt, concludedAt }) =>
          status === 'succeeded' && concludedAt !== null
            ? [(Date.parse(concludedAt) - Date.parse(createdAt)) / 1_000]
            : [],
        ),
      );
    },
    staleTime: 60_000,
  });
  return runs.data ?? null;
}

const CheckRepository = ({ name }: { readonly name: QueueName }) => (
  <section className="card" aria-label="Check the repository">
    <Stack gap="sm" align="flex-start">
      <Title order={2} size="h4">
        Check the repository
      </Title>
      <Text>
        The doctor asks the Git host whether this queue can work, and says how to fix what keeps it from that.
      </Text>
      <Button
        variant="default"
        renderRoot={(props) => <Link to="/doctor" search={queueSearch(name)} {...props} />}
      >
        Open the doctor
      </Button>
    </Stack>
  </section>
);

function DeleteQueue({ name }: { readonly name: QueueName }) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const navigate = useNavigate();
  const { targetBranch } = name;
  const remove = async () => {
    await call('deleteQueue', name);
    await navigate({ to: '/' });
  };
  return (
    <section className="card" aria-label="Delete the queue">
      <Stack gap="sm" align="flex-start">
        <Title order={2} size="h4">
          Delete the queue
        </Title>
        <Text>
          Only an empty queue can be deleted. Its history stays in the database but is no longer shown.
        </Text>
        <Button color="red.9" onClick={() => setOpen(true)}>
          Delete this queue
        </Button>
      </Stack>
      {isOpen && (
        <Dialog
          title={`Delete the queue for ${targetBranch}?`}
          action="Delete the queue"
          isDangerous
          isReady={typed === targetBranch}
          run={remove}
          done={`The queue for ${targetBranch} is deleted.`}
          onClose={() => setOpen(false)}
        >
          <Text>
            Signalbox stops testing and merging pull requests for {targetBranch} until a new queue is created.
            It ignores commands in comments and labels for this branch.
          </Text>
          <TextInput
            label={`Type the name of the branch to confirm: ${targetBranch}`}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        </Dialog>
      )}
    </section>
  );
}
