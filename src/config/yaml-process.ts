// The process that yaml-apart.ts starts: it receives a text and sends back its content.

import { parseYaml } from './yaml.ts';

process.once('message', (text: string) => process.send?.(parseYaml(text), () => process.disconnect()));
