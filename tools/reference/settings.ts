import { allowed, type Form } from '../../src/settings/rows/forms.ts';
import type { Setting } from '../../src/settings/rows/setting.ts';
import { SETTINGS } from '../../src/settings/table.ts';
import { page, table } from './page.ts';

/** Every setting, by the programs that read it. */
export function settingsPage(): string {
  const all = Object.entries<Setting>(SETTINGS).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const rows = all.map(([name, setting]) => [
    `\`${name}\`${setting.secret ? ' (secret)' : ''}`,
    setting.readers.join(', '),
    valuesOf(setting.form),
    defaultText(setting),
    chartText(setting),
    setting.meaning,
  ]);
  return page(
    'Settings',
    'src/settings/rows',
    'Programs read their settings from environment variables: the gateway, the controller, the document engine, the bridge and `gwctl`. An ' +
      'empty variable is one that is not set. A program that finds an error names every variable at fault, never its value, and ' +
      'ends with 2. A variable that begins with `GW_` and is not in this table is an error too; the message names the setting ' +
      'that was probably meant.',
    '"Chart" is the value of the Helm chart that sets the variable, with its default where the chart has another one. "Set by ' +
      'the chart": the chart decides; `env` does not take the variable. All others go into `gateway.env`, `controller.env` or ' +
      '`inference.env`. Those of the bridge go into `env` of an entry of `gateway.stdioServers`.',
    table(['variable', 'read by', 'value', 'default', 'chart', 'meaning'], rows),
    'In the embedded run the gateway also reads `<VENDOR>_API_KEY`, such as `OPENAI_API_KEY`, as the key of that vendor.',
  );
}

/** The allowed values, as a cell says them. */
function valuesOf(form: Form): string {
  if (form.kind === 'words') return form.words.map((word) => `\`${word}\``).join(', ');
  if (form.kind === 'text' && !form.must) return 'text';
  return allowed(form)
    .replace(/^(?:be|have) (?:an? |the )?/, '')
    .replace(/^(true|false) or (true|false)$/, '`$1`, `$2`');
}

function defaultText({ default: fallback, unset }: Setting): string {
  if (typeof fallback === 'string') return `\`${fallback}\``;
  if (fallback)
    return Object.entries(fallback)
      .map(([program, text]) => `\`${text}\` (${program})`)
      .join(', ');
  return unset ?? '';
}

function chartText({ chart, default: fallback }: Setting): string {
  if (chart === undefined) return '';
  if (chart === 'own') return 'set by the chart';
  if (chart === 'refused') return 'refused by the chart';
  const paths = [...new Set(Object.values(chart.values))].map((path) => `\`${path}\``).join(', ');
  const other = chart.default && chart.default !== fallback ? ` (\`${chart.default}\`)` : '';
  return `${paths}${other}`;
}
