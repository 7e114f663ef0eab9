// One line on the page of a queue while the doctor's last check has a finding that keeps the queue from working.

import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { diagnosisQuery } from '../api/query.ts';
import { Icon } from '../component/icon.tsx';
import { Ago } from '../component/time.tsx';
import { formatCount } from '../format.ts';
import { type QueueName, queueSearch } from '../name.ts';

export function DoctorLine({ name }: { readonly name: QueueName }) {
  const diagnosis = useQuery({ ...diagnosisQuery(name), refetchInterval: 60_000 }).data?.diagnosis ?? null;
  const wrong = diagnosis?.findings.filter(({ verdict }) => verdict === 'wrong') ?? [];
  if (diagnosis === null || wrong.length === 0) return null;
  return (
    <Text size="sm" role="status" className="doctor-line">
      <span className="finding-mark" data-tone="bad">
        <Icon name="warning" />
      </span>{' '}
      The doctor found {formatCount(wrong.length, 'problem')} with this queue <Ago at={diagnosis.checkedAt} />
      .{' '}
      <Link to="/doctor" search={queueSearch(name)}>
        See what to fix
      </Link>
    </Text>
  );
}
