import { API_VERSION, LONG_LISTS, PATTERNS } from '../resources/schema.ts';
import type { CustomKindName } from '../resources/kinds.ts';
import { schemasOf } from './definition.ts';
import { PRESENTATION } from './presentation.ts';
import { CONDITIONS } from './status.ts';
import type { StructuralNode } from './structural.ts';

const PATTERN_WORDS: ReadonlyMap<string, string> = new Map(
  Object.values(PATTERNS).map(([pattern, message]) => [pattern, message.replace(/^must (?:be )?/, '')]),
);

const LIST_WORDS: ReadonlyMap<string, string> = new Map(
  LONG_LISTS.map(([names, message]) => [names.join(' '), message.replace(/^must be /, '')]),
);

/** The page about a kind, as Markdown: its fields, its rules and its status, in the words of the schema. */
export function referenceOf(kind: CustomKindName): string {
  const { plural, shortName, description } = PRESENTATION[kind];
  const { spec, status } = schemasOf(kind);
  return [
    `# ${kind}`,
    description,
    `\`${API_VERSION}\`, namespaced. \`kubectl get ${shortName}\`, or \`${plural}.gatewarden.dev\` in full. ` +
      `A sample: [${fileName(kind)}.yaml](../../../k8s/samples/kinds/${fileName(kind)}.yaml).`,
    '## spec',
    table(spec, ''),
    ...ruleSection(spec),
    '## status',
    'Only the controller writes it.',
    table(status, ''),
    '| condition | true when |\n|---|---|\n' +
      Object.entries(CONDITIONS)
        .map(([type, meaning]) => `| \`${type}\` | ${meaning} |`)
        .join('\n'),
  ]
    .join('\n\n')
    .concat('\n');
}

/** The list of all pages. */
export function referenceIndex(kinds: readonly CustomKindName[]): string {
  const kindRows = kinds.map((kind) => {
    const { shortName, description } = PRESENTATION[kind];
    return `| [${kind}](${fileName(kind)}.md) | \`${shortName}\` | ${description} |`;
  });
  return [
    '# Kinds',
    `The resources that configure Gatewarden, in the group \`${API_VERSION}\`. \`kubectl get gatewarden\` lists all of them.`,
    `| kind | short name | what it is for |\n|---|---|---|\n${kindRows.join('\n')}`,
    'These pages are written by `make docs` from the schemas in `src/config/resources`.',
  ]
    .join('\n\n')
    .concat('\n');
}

/** The name of a kind's page and sample: `VirtualKey` is `virtual-key`. */
export function fileName(kind: CustomKindName): string {
  return kind.replace(/(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '-').toLowerCase();
}

function table(node: StructuralNode, prefix: string): string {
  return `| field | value | meaning |\n|---|---|---|\n${rows(node, prefix).join('\n')}`;
}

/** One row for each field, after the object that contains it. Fields that a sibling describes refer to that sibling. */
function rows(node: StructuralNode, prefix: string): readonly string[] {
  const told = new Map<string, string>();
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    const path = `${prefix}${name}`;
    const required = node.required?.includes(name) ? '**required**, ' : '';
    const inner = rows(child.items ?? child, child.items ? `[].` : `.`);
    const alike = told.get(inner.join('\n'));
    if (inner.length > 0) told.set(inner.join('\n'), path);
    const value = alike === undefined ? valueOf(child) : `same fields as \`${alike}\``;
    const row = `| \`${path}\` | ${required}${value} | ${cell(child.description ?? '')} |`;
    return [row, ...(alike === undefined ? inner.map((line) => line.replace('| `', `| \`${path}`)) : [])];
  });
}

/** What a field takes: type, bounds, default. */
function valueOf(node: StructuralNode): string {
  const { default: fallback } = node;
  const shown = fallback === undefined || typeof fallback === 'object' ? '' : `; default \`${plain(fallback)}\``;
  return `${typeOf(node)}${shown}`;
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function typeOf(node: StructuralNode): string {
  if (node.enum) return LIST_WORDS.get(node.enum.join(' ')) ?? node.enum.map((value) => `\`${value}\``).join(', ');
  if (node.items) return `list${among(node.minItems, node.maxItems)}, of ${typeOf(node.items)}`;
  if (node.additionalProperties) return `map of ${typeOf(node.additionalProperties)}`;
  if (node.type === 'integer') return `integer${among(node.minimum, node.maximum)}`;
  if (node.type !== 'string') return node.type;
  if (node.format !== undefined) return node.format;
  const size = node.maxLength === undefined ? '' : `, at most ${node.maxLength} characters`;
  if (node.pattern === undefined) return `string${size}`;
  const words = PATTERN_WORDS.get(node.pattern);
  return words === undefined ? `string like \`${cell(node.pattern)}\`` : `string: ${cell(words)}`;
}

function among(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}`;
  if (most !== undefined) return `, at most ${most}`;
  return least === undefined ? '' : `, at least ${least}`;
}

function ruleSection(spec: StructuralNode): readonly string[] {
  const found = [...rulesOf(spec, 'spec')];
  if (found.length === 0) return [];
  const lines = found.map(([field, message]) => `- \`${field}\` ${message}`);
  return ['### Rules', [...new Set(lines)].join('\n')];
}

function* rulesOf(node: StructuralNode, field: string): Generator<readonly [field: string, message: string]> {
  for (const { fieldPath = '', message } of node['x-kubernetes-validations'] ?? [])
    yield [`${field}${fieldPath}`, message];
  for (const [name, child] of Object.entries(node.properties ?? {})) yield* rulesOf(child, `${field}.${name}`);
  if (node.items) yield* rulesOf(node.items, `${field}[]`);
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
