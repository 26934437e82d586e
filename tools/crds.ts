import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from '../src/config/crds/files.ts';

// Writes what follows from the schemas of the resources: definitions for clusters, and pages for people.
for (const [path, text] of generatedFiles()) {
  const file = join(import.meta.dirname, '..', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
