import { openGithubWorld } from './github-world.ts';
import { describeHostContract } from './suite.ts';

describeHostContract('GitHub', openGithubWorld);
