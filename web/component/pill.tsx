// States as an icon, a label and a colour, in that order of importance.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { Icon, type IconName } from './icon.tsx';

type PillTone = 'good' | 'bad' | 'busy' | 'warn' | 'calm';
type PillStyle = { readonly icon: IconName; readonly label: string; readonly tone: PillTone };

type EntryPillState = ResponseOf<'getSubmittedPullRequest'>['state'];
type QueuePillState = ResponseOf<'getQueue'>['state'];

const entryStyles: Readonly<Record<EntryPillState, PillStyle>> = {
  not_ready: { icon: 'clock', label: 'Not ready', tone: 'calm' },
  pending: { icon: 'queue', label: 'Queued', tone: 'calm' },
  testing: { icon: 'flask', label: 'Testing', tone: 'busy' },
  tests_passed: { icon: 'check', label: 'Passed', tone: 'good' },
  merged: { icon: 'merged', label: 'Merged', tone: 'good' },
  failed: { icon: 'cross', label: 'Failed', tone: 'bad' },
  cancelled: { icon: 'dash', label: 'Cancelled', tone: 'calm' },
  pending_failure: { icon: 'warning', label: 'Pending failure', tone: 'warn' },
};

const queueStyles: Readonly<Record<QueuePillState, PillStyle>> = {
  RUNNING: { icon: 'play', label: 'Running', tone: 'good' },
  PAUSED: { icon: 'pause', label: 'Paused', tone: 'warn' },
  DRAINING: { icon: 'drain', label: 'Draining', tone: 'warn' },
  SWITCHING_MODES: { icon: 'switch', label: 'Switching modes', tone: 'busy' },
};

const healthStyles: Readonly<Record<'healthy' | 'flaky' | 'broken', PillStyle>> = {
  healthy: { icon: 'check', label: 'Healthy', tone: 'good' },
  flaky: { icon: 'switch', label: 'Flaky', tone: 'warn' },
  broken: { icon: 'cross', label: 'Broken', tone: 'bad' },
};

const checkStyles: Readonly<Record<string, PillStyle>> = {
  success: { icon: 'check', label: 'passed', tone: 'good' },
  neutral: { icon: 'check', label: 'neutral', tone: 'good' },
  skipped: { icon: 'dash', label: 'skipped', tone: 'calm' },
  pending: { icon: 'flask', label: 'in progress', tone: 'busy' },
  in_progress: { icon: 'flask', label: 'in progress', tone: 'busy' },
  queued: { icon: 'clock', label: 'queued', tone: 'calm' },
  missing: { icon: 'clock', label: 'not reported yet', tone: 'calm' },
  cancelled: { icon: 'dash', label: 'cancelled', tone: 'warn' },
};
const badCheck = (label: string): PillStyle => ({ icon: 'cross', label, tone: 'bad' });

export const Pill = ({ icon, label, tone }: PillStyle) => (
  <span className="pill" data-tone={tone}>
    <Icon name={icon} />
    {label}
  </span>
);

export const EntryPill = ({ state }: { readonly state: EntryPillState }) => <Pill {...entryStyles[state]} />;
export const formatEntryState = (state: EntryPillState): string => entryStyles[state].label.toLowerCase();
export const QueuePill = ({ state }: { readonly state: QueuePillState }) => <Pill {...queueStyles[state]} />;
export const HealthPill = ({ status }: { readonly status: 'healthy' | 'flaky' | 'broken' }) => (
  <Pill {...healthStyles[status]} />
);

export const checkPillStyle = (state: string): PillStyle =>
  checkStyles[state.toLowerCase()] ?? badCheck(state.toLowerCase());
