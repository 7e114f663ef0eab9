// For processes that tests start: Node.js keeps what it compiled for the next one, which then starts in half the time.
// The folder is the checkout's own: whoever may write there decides what runs.
import { join } from 'node:path';

export const compileCache = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/node-compile'),
};
