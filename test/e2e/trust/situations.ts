// All situations, by theme.

import { commentSituations } from './comment.ts';
import { conversationSituations } from './conversation.ts';
import { connectionSituations } from './connection.ts';
import { forceSituations } from './force.ts';
import { forkSituations } from './fork.ts';
import { gitSituations } from './git.ts';
import { infrastructureSituations } from './infrastructure.ts';
import { labelSituations } from './label.ts';
import { landingSituations } from './landing.ts';
import type { Situation } from './model.ts';
import { ruleTypeSituations } from './rule-type.ts';
import { ruleSituations } from './rules.ts';
import { skippedSituations } from './skipped.ts';
import { sourceSituations } from './source.ts';
import { stoppedSituations } from './stopped.ts';
import { tokenSituations } from './token.ts';
import { withdrawnSituations } from './withdrawn.ts';

export const situations: Readonly<Record<string, readonly Situation[]>> = {
  rules: ruleSituations,
  skipped: skippedSituations,
  source: sourceSituations,
  infrastructure: infrastructureSituations,
  stopped: stoppedSituations,
  label: labelSituations,
  comment: commentSituations,
  force: forceSituations,
  fork: forkSituations,
  landing: landingSituations,
  'rule types': ruleTypeSituations,
  withdrawn: withdrawnSituations,
  conversation: conversationSituations,
  git: gitSituations,
  token: tokenSituations,
  connection: connectionSituations,
};
