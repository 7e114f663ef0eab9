// `npm run e2e:github [-- --webhooks off] [--json]`: the story of story.ts on the GitHub-compatible server of the tests.

import { openGithub } from './github-host.ts';
import { runStory } from './main.ts';

await runStory('github', () => openGithub());
