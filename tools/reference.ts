import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { resourcePages } from '../src/config/crds/files.ts';
import { auditRowPage } from './reference/audit-row.ts';
import { chartFiles } from './reference/chart-settings.ts';
import { detectorsPage } from './reference/detectors.ts';
import { errorsPage } from './reference/errors.ts';
import { gwctlPage } from './reference/gwctl.ts';
import { logEventsPage } from './reference/log-events.ts';
import { metricsPage } from './reference/metrics.ts';
import { orderedRowSource } from './reference/ordered-row.ts';
import { page, table } from './reference/page.ts';
import { settingsPage } from './reference/settings.ts';
import { vendorSamples, vendorsPage } from './reference/vendors.ts';

interface Page {
  /** Under docs/reference. */
  readonly file: string;
  /** What it lists, as the index says it. */
  readonly lists: string;
  readonly write: () => string | Promise<string>;
}

/** One line for each page; sorted by file. */
const PAGES: readonly Page[] = [
  { file: 'audit-row.md', lists: 'fields of the audit row', write: auditRowPage },
  { file: 'detectors.md', lists: 'kinds of personal data, and what finds each', write: detectorsPage },
  { file: 'errors.md', lists: 'error codes that clients receive', write: errorsPage },
  { file: 'gwctl.md', lists: 'commands and options of the command line', write: gwctlPage },
  { file: 'log-events.md', lists: 'events of the logs', write: logEventsPage },
  { file: 'metrics.md', lists: 'metrics of every program', write: metricsPage },
  { file: 'settings.md', lists: 'environment variables of every program', write: settingsPage },
  { file: 'vendors.md', lists: 'vendors of models, their addresses and credentials', write: vendorsPage },
];

/** Pages in the same folder that are written by hand. */
export const WRITTEN_BY_HAND: readonly Omit<Page, 'write'>[] = [
  { file: 'http-api.md', lists: 'endpoints, headers and the `gw` extension' },
];

/** Where the pages lie, from the repository's root. */
export const REFERENCE = 'docs/reference';

/** Every generated page by its path from the repository's root. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>([[`${REFERENCE}/README.md`, indexPage()]]);
  for (const { file, write } of PAGES) pages.set(`${REFERENCE}/${file}`, await write());
  for (const [file, text] of resourcePages()) pages.set(`${REFERENCE}/resources/${file}`, text);
  return pages;
}

/** What else is written: code that runs often, samples, and the chart's part of settings. Texts by their paths from the repository's root. */
export function writtenSources(): ReadonlyMap<string, string> {
  return new Map([['src/seal/ordered-row.ts', orderedRowSource()], ...vendorSamples(), ...chartFiles()]);
}

function indexPage(): string {
  const link = ({ file, lists }: Omit<Page, 'write'>): string[] => [`[${file.replace(/\.md$/, '')}](${file})`, lists];
  const rows = PAGES.map(link);
  const resources = ['[resources](resources/README.md)', 'kinds of resources and their fields'];
  return page(
    'Reference',
    'tools/reference.ts',
    'These pages follow from the code, and a test compares them with it.',
    table(['page', 'lists'], [...rows, resources]),
    'These pages are written by hand.',
    table(['page', 'lists'], WRITTEN_BY_HAND.map(link)),
  );
}

if (import.meta.main) {
  for (const [path, text] of [...(await referencePages()), ...writtenSources()]) {
    const file = join(import.meta.dirname, '..', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
