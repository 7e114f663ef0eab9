// States as a picture, a word and a colour, in that order of importance.

import type { ResponseOf } from '#contract/endpoint.ts';
import { Icon, type IconName } from './icon.tsx';

type Tone = 'good' | 'bad' | 'busy' | 'warn' | 'calm';
type Look = { readonly icon: IconName; readonly word: string; readonly tone: Tone };

type EntryState = ResponseOf<'getSubmittedPullRequest'>['state'];
type QueueState = ResponseOf<'getQueue'>['state'];
type RunStatus = ResponseOf<'listMergeQueueTestingResults'>['testingResults'][number]['status'];

const entryLooks: Readonly<Record<EntryState, Look>> = {
  not_ready: { icon: 'clock', word: 'Not ready', tone: 'calm' },
  pending: { icon: 'line', word: 'In line', tone: 'calm' },
  testing: { icon: 'flask', word: 'Testing', tone: 'busy' },
  tests_passed: { icon: 'check', word: 'Passed', tone: 'good' },
  merged: { icon: 'merged', word: 'Merged', tone: 'good' },
  failed: { icon: 'cross', word: 'Failed', tone: 'bad' },
  cancelled: { icon: 'dash', word: 'Cancelled', tone: 'calm' },
  pending_failure: { icon: 'warning', word: 'Failure in doubt', tone: 'warn' },
};

const queueLooks: Readonly<Record<QueueState, Look>> = {
  RUNNING: { icon: 'play', word: 'Running', tone: 'good' },
  PAUSED: { icon: 'pause', word: 'Paused', tone: 'warn' },
  DRAINING: { icon: 'drain', word: 'Draining', tone: 'warn' },
  SWITCHING_MODES: { icon: 'switch', word: 'Switching modes', tone: 'busy' },
};

const runLooks: Readonly<Record<RunStatus, Look>> = {
  in_progress: { icon: 'flask', word: 'Under way', tone: 'busy' },
  succeeded: { icon: 'check', word: 'Passed', tone: 'good' },
  failed: { icon: 'cross', word: 'Failed', tone: 'bad' },
  cancelled: { icon: 'dash', word: 'Cancelled', tone: 'calm' },
};

const healthLooks: Readonly<Record<'healthy' | 'flaky' | 'broken', Look>> = {
  healthy: { icon: 'check', word: 'Healthy', tone: 'good' },
  flaky: { icon: 'switch', word: 'Flaky', tone: 'warn' },
  broken: { icon: 'cross', word: 'Broken', tone: 'bad' },
};

const checkLooks: Readonly<Record<string, Look>> = {
  success: { icon: 'check', word: 'passed', tone: 'good' },
  neutral: { icon: 'check', word: 'neutral', tone: 'good' },
  skipped: { icon: 'dash', word: 'skipped', tone: 'calm' },
  pending: { icon: 'flask', word: 'under way', tone: 'busy' },
  in_progress: { icon: 'flask', word: 'under way', tone: 'busy' },
  queued: { icon: 'clock', word: 'waits', tone: 'calm' },
  missing: { icon: 'clock', word: 'not reported yet', tone: 'calm' },
  cancelled: { icon: 'dash', word: 'cancelled', tone: 'warn' },
};
const badCheck = (word: string): Look => ({ icon: 'cross', word, tone: 'bad' });

export const Pill = ({ icon, word, tone }: Look) => (
  <span className="pill" data-tone={tone}>
    <Icon name={icon} />
    {word}
  </span>
);

export const EntryPill = ({ state }: { readonly state: EntryState }) => <Pill {...entryLooks[state]} />;
export const QueuePill = ({ state }: { readonly state: QueueState }) => <Pill {...queueLooks[state]} />;
export const RunPill = ({ status }: { readonly status: RunStatus }) => <Pill {...runLooks[status]} />;
export const HealthPill = ({ status }: { readonly status: 'healthy' | 'flaky' | 'broken' }) => (
  <Pill {...healthLooks[status]} />
);

export const checkLook = (state: string): Look =>
  checkLooks[state.toLowerCase()] ?? badCheck(state.toLowerCase());
