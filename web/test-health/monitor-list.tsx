// The monitors of a test: the state and evidence of each, and a way to mute one for a while.

import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { monitorTexts } from '#contract/health/monitor-text.ts';
import { call } from '../api/api.ts';
import { humanizeCode } from '../format.ts';
import { useMay } from '../api/query.ts';
import { Empty } from '../component/query-result.tsx';
import { Dialog } from '../component/dialog.tsx';
import { Pill } from '../component/pill.tsx';
import type { TestName } from './test-action.tsx';
import { Instant } from '../component/time.tsx';

type MonitorHistory = ResponseOf<'getTestHistory'>;
type TestMonitor = MonitorHistory['monitors'][number];

export const monitorTitle = (monitor: string): string =>
  monitor === '*' ? 'All monitors' : (monitorTexts[monitor]?.title ?? humanizeCode(monitor));

type MonitorListProps = { readonly test: TestName; readonly history: MonitorHistory };

export function MonitorList({ test, history }: MonitorListProps) {
  const mayAdminister = useMay('admin');
  const [muting, setMuting] = useState<string | null>(null);
  const [unmuting, setUnmuting] = useState<string | null>(null);
  if (history.monitors.length === 0)
    return (
      <Empty icon="clock" title="No monitors enabled for this test">
        Monitors classify tests from uploaded reports. No uploaded report contains this test.
      </Empty>
    );
  return (
    <Stack gap="sm">
      <ul className="plain">
        {history.monitors.map((monitor) => (
          <MonitorRow
            key={monitor.monitor}
            monitor={monitor}
            {...(mayAdminister && { onMute: setMuting, onUnmute: setUnmuting })}
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
            <Button variant="default" onClick={() => setUnmuting('*')}>
              Unmute all monitors …
            </Button>
          )}
        </Group>
      )}
      {muting !== null && <MuteDialog test={test} monitor={muting} onClose={() => setMuting(null)} />}
      {unmuting !== null && <UnmuteDialog test={test} monitor={unmuting} onClose={() => setUnmuting(null)} />}
    </Stack>
  );
}

function chooseMonitorPill({ is_on, is_active, says }: TestMonitor) {
  if (!is_on) return { icon: 'dash', label: 'Off', tone: 'calm' } as const;
  if (!is_active) return { icon: 'check', label: 'Inactive', tone: 'good' } as const;
  return says === 'broken'
    ? ({ icon: 'cross', label: 'Broken', tone: 'bad' } as const)
    : ({ icon: 'switch', label: 'Flaky', tone: 'warn' } as const);
}

type MonitorRowProps = {
  readonly monitor: TestMonitor;
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
        <Pill {...chooseMonitorPill(monitor)} />
        {muted_until !== null && <Pill icon="pause" label="Muted" tone="calm" />}
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

const durations = [
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
  call('muteMonitor', { ...test, monitor: monitor as TestMonitor['monitor'] | '*', hours, reason });

function MuteDialog({ test, monitor, onClose }: MuteDialogProps) {
  const [hours, setHours] = useState('24');
  const [reason, setReason] = useState('');
  return (
    <Dialog
      title={`Mute: ${monitorTitle(monitor)}`}
      action="Mute"
      done="The monitor is muted."
      run={() => mute(test, monitor, Number(hours), reason.trim())}
      onClose={onClose}
    >
      <Text>The monitor keeps running, but does not affect the status of the test while it is muted.</Text>
      <Select
        label="Duration"
        data={durations}
        value={hours}
        allowDeselect={false}
        onChange={(value) => setHours(value ?? '24')}
      />
      <TextInput
        label="Reason"
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
    done="The monitor is unmuted."
    run={() => mute(test, monitor, 0, '')}
    onClose={onClose}
  >
    <Text>The monitor affects the status of the test again.</Text>
  </Dialog>
);
