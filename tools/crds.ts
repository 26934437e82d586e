import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { definitionFiles } from '../src/config/crds/files.ts';

// Writes the definitions of the resources for clusters (charts/gatewarden-crds).
for (const [path, text] of definitionFiles()) {
  const file = join(import.meta.dirname, '..', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
