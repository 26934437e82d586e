import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { page, PAGE } from './page.ts';

const path = join(import.meta.dirname, '../..', PAGE);
mkdirSync(dirname(path), { recursive: true });
writeFileSync(path, page());
