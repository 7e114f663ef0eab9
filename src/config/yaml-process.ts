// The process that yaml-apart.ts starts: it receives a text and sends back its content.

import { constants, setPriority } from 'node:os';
import { parseYaml } from './yaml.ts';

// On a busy machine other processes go first, but an ordinary file is still read in seconds.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

process.once('message', (text: string) => process.send?.(parseYaml(text), () => process.disconnect()));
