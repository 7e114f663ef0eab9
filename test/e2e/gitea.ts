// `npm run e2e:gitea [-- --webhooks off] [--screenshots FOLDER] [--json]`: the story of story.ts on a real Gitea with its
// own CI.

import { openGitea } from './gitea-host.ts';
import { runStory } from './main.ts';

await runStory('gitea', openGitea);
