import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Form } from '../../src/settings/rows/forms.ts';
import type { ChartValue, Setting } from '../../src/settings/rows/setting.ts';
import { SETTINGS } from '../../src/settings/table.ts';

const ROOT = join(import.meta.dirname, '../..');
const CHART = 'charts/gatewarden';
const BEGIN = '# Settings: `make docs` writes these from src/settings/rows.';
const END = '# End of settings.';
const WIDTH = 120;

/** A setting that the chart offers, as one of its values. */
interface Offered {
  readonly name: string;
  /** The program whose container gets the variable. */
  readonly program: string;
  /** The path of the value, such as `gateway.logLevel`. */
  readonly path: string;
  readonly fallback: string;
  readonly setting: Setting;
}

const SORTED = Object.entries<Setting>(SETTINGS).toSorted(([a], [b]) => (a < b ? -1 : 1));
const OFFERED: readonly Offered[] = SORTED.flatMap(([name, setting]) => {
  const { chart } = setting;
  if (typeof chart !== 'object') return [];
  return Object.entries(chart.values).map(([program, path]) => {
    return { name, program, path, fallback: fallbackOf(name, setting, chart), setting };
  });
});

/** The parts of the chart that follow from settings, whole files by their paths: a template, values and the schema of values. */
export function chartFiles(): ReadonlyMap<string, string> {
  const read = (file: string): string => readFileSync(join(ROOT, CHART, file), 'utf8');
  return new Map([
    [`${CHART}/templates/_settings.tpl`, template()],
    [`${CHART}/values.yaml`, withValues(read('values.yaml'))],
    [`${CHART}/values.schema.json`, withSchema(read('values.schema.json'))],
  ]);
}

function fallbackOf(name: string, { default: own }: Setting, chart: ChartValue): string {
  const fallback = chart.default ?? own;
  if (typeof fallback !== 'string') throw new Error(`src/settings/rows: ${name} needs a default for the chart`);
  return fallback;
}

/** The environment of each container: one define for a program. */
function template(): string {
  const programs = [...new Set(OFFERED.map(({ program }) => program))];
  const defines = programs.map((program) => {
    const entries = OFFERED.filter((one) => one.program === program).map((one) => {
      const entry = (value: string) => `- { name: ${one.name}, value: {{ ${value} | quote }} }`;
      const value = `.Values.${one.path}`;
      if (one.fallback === '') return `{{- with ${value} }}\n${entry('.')}\n{{- end }}`;
      return entry(one.setting.form.kind === 'whole' ? `int64 ${value}` : value);
    });
    return `{{- define "gatewarden.${program}Settings" -}}\n${entries.toSorted(unconditionalFirst).join('\n')}\n{{- end -}}`;
  });
  return `{{- /* \`make docs\` writes this file from src/settings/rows. */ -}}\n${defines.join('\n\n')}\n`;
}

/** A define must begin with an entry: a condition would leave an empty line before it. */
function unconditionalFirst(a: string, b: string): number {
  return Number(a.startsWith('{{')) - Number(b.startsWith('{{'));
}

/** Values with the block of settings of each section replaced. */
function withValues(text: string): string {
  const written = new Set<string>();
  const result = text.replaceAll(new RegExp(`^  ${BEGIN}\\n[\\s\\S]*?^  ${END}\\n`, 'gm'), (_block, offset: number) => {
    const section = /^(\w+):[^\n]*\n(?![\s\S]*^\w+:)/m.exec(text.slice(0, offset))?.[1] ?? '';
    written.add(section);
    return `  ${BEGIN}\n${block(section)}  ${END}\n`;
  });
  for (const { path, name } of OFFERED) {
    if (!written.has(sectionOf(path)))
      throw new Error(
        `${CHART}/values.yaml: ${sectionOf(path)} has no block of settings for ${name}: add "${BEGIN}", "${END}"`,
      );
  }
  return result;
}

function block(section: string): string {
  const paths = new Map(OFFERED.filter(({ path }) => sectionOf(path) === section).map((one) => [one.path, one]));
  return [...paths.values()]
    .map(({ path, fallback, setting }) => {
      const isNumber = setting.form.kind === 'whole' || setting.form.kind === 'flag';
      const value = isNumber || /^[a-z]+$/.test(fallback) ? fallback : JSON.stringify(fallback);
      return `${comment(setting.meaning)}  ${path.split('.')[1]}: ${value}\n`;
    })
    .join('');
}

function comment(meaning: string): string {
  const lines: string[] = [];
  for (const word of meaning.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length + 5 <= WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `  # ${line}\n`).join('');
}

const sectionOf = (path: string): string => path.split('.')[0] ?? '';

interface Schema {
  readonly [member: string]: unknown;
  readonly properties?: Record<string, Schema>;
}

/** The schema with a property for each setting, and without variables in `env` that the chart sets itself. */
function withSchema(text: string): string {
  const schema = JSON.parse(text) as Schema;
  const reserved = SORTED.filter(([, { chart }]) => chart !== undefined).map(([name]) => name);
  for (const { path, setting, fallback } of OFFERED) {
    const properties = schema.properties?.[sectionOf(path)]?.properties;
    if (!properties) throw new Error(`${CHART}/values.schema.json has no object ${sectionOf(path)}`);
    properties[path.split('.')[1]!] = schemaOf(setting.form, fallback === '');
  }
  for (const section of ['gateway', 'controller', 'inference']) {
    const items = schema.properties?.[section]?.properties?.['env']?.['items'] as Schema | undefined;
    const properties = items?.properties;
    if (properties?.['name']) properties['name'] = { ...properties['name'], not: { enum: reserved } };
  }
  return `${stringify(schema, '')}\n`;
}

function schemaOf(form: Form, mayBeEmpty: boolean): Schema {
  switch (form.kind) {
    case 'whole':
      return { type: 'integer', minimum: form.least, maximum: form.most };
    case 'flag':
      return { type: 'boolean' };
    case 'words':
      return { type: 'string', enum: form.words };
    case 'url': {
      const schemes = form.schemes.map((scheme) => scheme.replace(/:$/, '')).join('|');
      const pattern = `(${schemes})://.+`;
      return { type: 'string', pattern: mayBeEmpty ? `^(${pattern})?$` : `^${pattern}$` };
    }
    case 'text':
    case 'list':
      return { type: 'string', ...(!mayBeEmpty && { minLength: 1 }) };
  }
}

/** JSON as the formatter of the repository writes it: arrays of plain values on one line where they fit. */
function stringify(value: unknown, indent: string, prefix = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  if (!Array.isArray(value)) {
    const members = Object.entries(value).map(([name, member]) => {
      const key = `${JSON.stringify(name)}: `;
      return `${inner}${key}${stringify(member, inner, key.length)}`;
    });
    return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
  }
  const line = `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
  const isPlain = value.every((item) => typeof item !== 'object');
  if (isPlain && indent.length + prefix + line.length <= WIDTH) return line;
  return `[\n${value.map((item) => `${inner}${stringify(item, inner)}`).join(',\n')}\n${indent}]`;
}
