// The monitors of a test: what each says and sees, and a way to keep one quiet for a while.

import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import { wordsOf } from '../format.ts';
import { useMay } from '../query.ts';
import { Empty } from './answer.tsx';
import { Dialog } from './dialog.tsx';
import { Pill } from './state.tsx';
import type { TestName } from './test-action.tsx';
import { Instant } from './time.tsx';

type History = ResponseOf<'getTestHistory'>;
type Monitor = History['monitors'][number];

const monitorTitles: Readonly<Record<string, string>> = {
  pass_on_retry: 'Passes on retry',
  failure_rate_flaky: 'Failure rate, flaky',
  failure_count_flaky: 'Failure count, flaky',
  failure_rate_broken: 'Failure rate, broken',
  failure_count_broken: 'Failure count, broken',
  changepoint: 'Fails since a commit',
  '*': 'All monitors',
};

export const monitorTitle = (monitor: string): string => monitorTitles[monitor] ?? wordsOf(monitor);

type MonitorListProps = { readonly test: TestName; readonly history: History };

export function MonitorList({ test, history }: MonitorListProps) {
  const mayAdminister = useMay('admin');
  const [muting, setMuting] = useState<string | null>(null);
  const [counting, setCounting] = useState<string | null>(null);
  if (history.monitors.length === 0)
    return (
      <Empty icon="clock" title="No monitor looks at this test">
        Monitors judge tests that are in uploaded reports. This one was in none.
      </Empty>
    );
  return (
    <Stack gap="sm">
      <ul className="plain">
        {history.monitors.map((monitor) => (
          <MonitorRow
            key={monitor.monitor}
            monitor={monitor}
            {...(mayAdminister && { onMute: setMuting, onUnmute: setCounting })}
          />
        ))}
      </ul>
      {history.all_muted_until !== null && (
        <Text size="sm">
          All monitors are muted until <Instant at={history.all_muted_until} />
          {history.all_mute_reason && `: ${history.all_mute_reason}`}
        </Text>
      )}
      {mayAdminister && (
        <Group>
          {history.all_muted_until === null ? (
            <Button variant="default" onClick={() => setMuting('*')}>
              Mute all monitors …
            </Button>
          ) : (
            <Button variant="default" onClick={() => setCounting('*')}>
              Unmute all monitors …
            </Button>
          )}
        </Group>
      )}
      {muting !== null && <MuteDialog test={test} monitor={muting} onClose={() => setMuting(null)} />}
      {counting !== null && <UnmuteDialog test={test} monitor={counting} onClose={() => setCounting(null)} />}
    </Stack>
  );
}

function lookOf({ is_on, is_active, says }: Monitor) {
  if (!is_on) return { icon: 'dash', word: 'Off', tone: 'calm' } as const;
  if (!is_active) return { icon: 'check', word: 'Quiet', tone: 'good' } as const;
  return says === 'broken'
    ? ({ icon: 'cross', word: 'Says broken', tone: 'bad' } as const)
    : ({ icon: 'switch', word: 'Says flaky', tone: 'warn' } as const);
}

type MonitorRowProps = {
  readonly monitor: Monitor;
  readonly onMute?: (monitor: string) => void;
  readonly onUnmute?: (monitor: string) => void;
};

function MonitorRow({ monitor, onMute, onUnmute }: MonitorRowProps) {
  const { monitor: id, sees, muted_until, mute_reason, is_on } = monitor;
  return (
    <li className="row" data-monitor={id}>
      <div className="shrink">
        <Text fw={600}>{monitorTitle(id)}</Text>
        <Text size="sm" className="why">
          {sees}
        </Text>
        {muted_until !== null && (
          <Text size="sm" className="why">
            Muted until <Instant at={muted_until} />
            {mute_reason && `: ${mute_reason}`}
          </Text>
        )}
      </div>
      <div className="entry-state">
        <Pill {...lookOf(monitor)} />
        {muted_until !== null && <Pill icon="pause" word="Muted" tone="calm" />}
        {muted_until !== null && onUnmute && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Unmute ${monitorTitle(id)}`}
            onClick={() => onUnmute(id)}
          >
            Unmute …
          </Button>
        )}
        {muted_until === null && is_on && onMute && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Mute ${monitorTitle(id)}`}
            onClick={() => onMute(id)}
          >
            Mute …
          </Button>
        )}
      </div>
    </li>
  );
}

const spans = [
  { value: '1', label: 'for an hour' },
  { value: '24', label: 'for a day' },
  { value: '168', label: 'for a week' },
  { value: '720', label: 'for 30 days' },
];

type MuteDialogProps = {
  readonly test: TestName;
  readonly monitor: string;
  readonly onClose: () => void;
};

const mute = (test: TestName, monitor: string, hours: number, reason: string) =>
  call('muteMonitor', { ...test, monitor: monitor as Monitor['monitor'] | '*', hours, reason });

function MuteDialog({ test, monitor, onClose }: MuteDialogProps) {
  const [hours, setHours] = useState('24');
  const [reason, setReason] = useState('');
  return (
    <Dialog
      title={`Mute: ${monitorTitle(monitor)}`}
      action="Mute"
      done="It is muted."
      run={() => mute(test, monitor, Number(hours), reason.trim())}
      onClose={onClose}
    >
      <Text>It goes on watching, and does not count for the test’s health meanwhile.</Text>
      <Select
        label="For how long"
        data={spans}
        value={hours}
        allowDeselect={false}
        onChange={(value) => setHours(value ?? '24')}
      />
      <TextInput
        label="Why"
        maxLength={2_000}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </Dialog>
  );
}

const UnmuteDialog = ({ test, monitor, onClose }: MuteDialogProps) => (
  <Dialog
    title={`Unmute: ${monitorTitle(monitor)}`}
    action="Unmute"
    done="It counts again."
    run={() => mute(test, monitor, 0, '')}
    onClose={onClose}
  >
    <Text>From now on it counts for the test’s health again.</Text>
  </Dialog>
);
