// What the doctor found at the Git host for a queue, for administrators.

import { Alert, Stack, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useMay } from '../api/query.ts';
import { QueueBreadcrumbs } from '../component/breadcrumbs.tsx';
import { Icon } from '../component/icon.tsx';
import { queueKey, queueOfSearch } from '../name.ts';
import { QueueDiagnosis } from '../setting/diagnosis.tsx';

const route = getRouteApi('/doctor');

export function DoctorPage() {
  const name = queueOfSearch(route.useSearch());
  const mayAdminister = useMay('admin');
  return (
    <Stack key={queueKey(name)}>
      <title>{`Doctor of ${name.repo.name} ${name.targetBranch} · Signalbox`}</title>
      <QueueBreadcrumbs queue={name} />
      <Title order={1} size="h2" className="break">
        Doctor of {name.repo.owner}/{name.repo.name} <span className="branch">{name.targetBranch}</span>
      </Title>
      {mayAdminister ? (
        <QueueDiagnosis name={name} />
      ) : (
        <Alert variant="outline" icon={<Icon name="shield" />} title="You cannot see this page">
          You need the admin role to see what the doctor found.
        </Alert>
      )}
    </Stack>
  );
}
