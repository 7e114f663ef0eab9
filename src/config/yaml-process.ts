// The process that yaml-apart.ts starts: it receives a text and sends back its content.

import { constants, setPriority } from 'node:os';
import { parseYaml } from './yaml.ts';

// On a busy machine everything else goes first.
setPriority(constants.priority.PRIORITY_LOW);

process.once('message', (text: string) => process.send?.(parseYaml(text), () => process.disconnect()));
