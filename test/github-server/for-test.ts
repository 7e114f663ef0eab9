// The server for one test, stopped when it ends; and clients for it.

import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from '@octokit/core';
import { onTestFinished } from 'vitest';
import { type GithubServer, type GithubServerOptions, startGithubServer } from './server.ts';
import { silentLog } from '../support/silent-log.ts';

/** A test whose server said anything that GitHub would not say fails when it ends. */
export async function openGithubServer(options: GithubServerOptions = {}): Promise<GithubServer> {
  const github = await startGithubServer(options);
  onTestFinished(github.stop);
  return github;
}

type OctokitOptions = NonNullable<ConstructorParameters<typeof Octokit>[0]>;

/** As the App is installed. */
export const installed = (github: GithubServer, more: OctokitOptions = {}, Client = Octokit): Octokit =>
  new Client({
    baseUrl: github.apiUrl,
    authStrategy: createAppAuth,
    auth: { appId: github.appId, privateKey: github.privateKey, installationId: github.installationId },
    log: silentLog,
    ...more,
  });

/** As the App itself. */
export const asApp = (github: GithubServer): Octokit =>
  new Octokit({
    baseUrl: github.apiUrl,
    authStrategy: createAppAuth,
    auth: { appId: github.appId, privateKey: github.privateKey },
    log: silentLog,
  });

export const asUser = (github: GithubServer, token: string): Octokit =>
  new Octokit({ baseUrl: github.apiUrl, auth: token, log: silentLog });

/** Status and words of what was refused. */
export const refusalOf = (request: Promise<unknown>): Promise<{ status: number; message: string }> =>
  request.then(
    () => Promise.reject(new Error('it was not refused')),
    (error: unknown) => {
      const { status, message } = error as { status: number; message: string };
      return { status, message };
    },
  );
