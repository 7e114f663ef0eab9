import { createGiteaWorld } from './gitea-world.ts';
import { describeHostContract } from './suite.ts';

describeHostContract('Gitea', createGiteaWorld);
