// A real host as the story (story.ts) needs it: what people do there, and how Signalbox is connected to it.

import type { Place } from '../host-contract/world.ts';

export type E2eHost = {
  /** What `signalbox admin connect` is given; secrets are in files of this folder. */
  readonly connect: (folder: string) => Promise<readonly string[]>;
  readonly url: string;
  /** As repositories name it. */
  readonly hostName: string;
  /** The login of Signalbox there. */
  readonly bot: string;
  /** A repository with these files on `main`, where CI runs `./ci.sh` for `main` and for test branches. */
  readonly createRepository: (files: Readonly<Record<string, string>>) => Promise<E2ePlace>;
  /** Of the queue, beside the required check. */
  readonly settings: object;
  /** The name under which that CI reports. */
  readonly requiredCheck: string;
  /** What a person opens in a browser. */
  readonly pageOf: (place: E2ePlace, number: number) => string;
  /** The calls of the API so far by the name of their operation, where the host counts. */
  readonly calls: (() => readonly string[]) | null;
  /** What went wrong inside the host itself. */
  readonly problems: () => readonly string[];
  readonly close: () => Promise<void>;
};

export type E2ePlace = Pick<
  Place,
  | 'cloneUrl'
  | 'openPullRequest'
  | 'showPullRequest'
  | 'listOpen'
  | 'comment'
  | 'listComments'
  | 'label'
  | 'grant'
  | 'listStatuses'
> & {
  readonly owner: string;
  readonly name: string;
  /** The login of whoever opens pull requests. */
  readonly author: string;
  /** What a person does before Signalbox can set its webhook, whose URL begins so. */
  readonly allowWebhook: (hooksUrl: string) => Promise<void>;
  /** Removes the webhook that Signalbox has set. */
  readonly removeWebhook: () => Promise<void>;
};
