import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { CUSTOM_KINDS, isKindName } from '../resources/kinds.ts';
import { validate } from '../resources/validate.ts';
import { faultsOf } from '../testing/resources.ts';
import { schemasOf } from './definition.ts';
import { definitionFiles } from './files.ts';
import { PRESENTATION } from './presentation.ts';
import { fileName } from './reference.ts';
import { toStructural, type StructuralNode } from './structural.ts';
import { rulesAt } from '../resources/rules.ts';
import { closed, text } from '../resources/schema.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

function* nodes(node: StructuralNode, at: string): Generator<readonly [string, StructuralNode]> {
  yield [at, node];
  for (const [name, child] of Object.entries(node.properties ?? {})) yield* nodes(child, `${at}.${name}`);
  if (node.items) yield* nodes(node.items, `${at}[]`);
  if (node.additionalProperties) yield* nodes(node.additionalProperties, `${at}.*`);
}

const ALL = CUSTOM_KINDS.flatMap((kind) => {
  const { spec, status } = schemasOf(kind);
  return [...nodes(spec, `${kind}.spec`), ...nodes(status, `${kind}.status`)];
});

describe('what follows from the schemas', () => {
  test('the repository has it as it is written now; `make crds` writes it', () => {
    for (const [path, content] of definitionFiles()) expect(read(path), path).toBe(content);
  });

  test('and nothing else', () => {
    const written = [...definitionFiles().keys()].sort();
    const there = globSync('charts/gatewarden-crds/templates/*', { cwd: ROOT });
    expect(there.map((path) => path.replaceAll('\\', '/')).sort()).toEqual(written);
  });

  test('Helm reads templates: nothing in them looks like an action of its language', () => {
    for (const content of definitionFiles().values()) expect(content).not.toMatch(/\{\{|\}\}/);
  });

  test('names, columns and fields to select by are those of fields that are there', () => {
    const fields = new Set(ALL.map(([at]) => at));
    for (const kind of CUSTOM_KINDS) {
      const { columns, selectable = [] } = PRESENTATION[kind];
      const named = [...columns.map((column) => column.jsonPath), ...selectable.map((field) => `.spec.${field}`)];
      for (const path of named) expect(fields, path).toContain(`${kind}${path.replace('[0]', '[]')}`);
      expect(selectable.length).toBeLessThanOrEqual(8);
    }
    const names = Object.values(PRESENTATION).flatMap(({ plural, shortName }) => [plural, shortName]);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('structural schemas', () => {
  test('every list and every text has a bound: rules cost what the longest value costs', () => {
    const unbounded = ALL.filter(([, node]) => {
      if (node.items) return node.maxItems === undefined;
      return node.type === 'string' && !node.enum && node.format !== 'date-time' && node.maxLength === undefined;
    });
    expect(unbounded.map(([at]) => at)).toEqual([]);
  });

  test('keys of lists are required or have a default, and sets hold plain values', () => {
    for (const [at, { items, ...node }] of ALL) {
      if (!items) continue;
      expect(node['x-kubernetes-list-type'], at).toMatch(/^(?:atomic|set|map)$/);
      if (node['x-kubernetes-list-type'] === 'set') expect(items.properties, at).toBeUndefined();
      for (const key of node['x-kubernetes-list-map-keys'] ?? []) {
        expect(items.required?.includes(key) || items.properties?.[key]?.default !== undefined, `${at} ${key}`).toBe(
          true,
        );
      }
    }
  });

  test('fields with a default are not required, and required fields exist', () => {
    for (const [at, node] of ALL) {
      for (const name of node.required ?? []) {
        expect(node.properties, at).toHaveProperty([name]);
        expect(node.properties?.[name]?.default, `${at}.${name}`).toBeUndefined();
      }
    }
  });

  test('a keyword without a structural form, or a rule without a place, is an error', () => {
    const schema = closed({ name: text('name', { maxLength: 9 }) });
    expect(() => toStructural({ ...schema, oneOf: [] }, 'spec', [])).toThrow('spec: no structural form of oneOf');
    expect(() => toStructural(schema, 'spec', [rulesAt('spec.other', [])])).toThrow('rules at spec.other');
    expect(() => toStructural({ ...schema, type: ['string'] }, 'spec', [])).toThrow('one type');
  });
});

describe('samples', () => {
  const documents = (path: string): readonly unknown[] =>
    parseAllDocuments(read(path)).map((each) => each.toJS() as unknown);

  test('every kind has one, of its name', () => {
    for (const kind of CUSTOM_KINDS) {
      const kinds = documents(`k8s/samples/kinds/${fileName(kind)}.yaml`).map(
        (each) => (each as { kind: string }).kind,
      );
      expect(kinds).toContain(kind);
    }
  });

  test.each(globSync('k8s/samples/**/*.yaml', { cwd: ROOT }))('%s is valid', (path) => {
    for (const document of documents(path)) {
      const { kind } = document as { kind: unknown };
      if (!isKindName(kind)) throw new Error(`${path}: no kind of ours: ${String(kind)}`);
      const faults: string[] = [];
      validate(kind, document, (field, message) => faults.push(`${field}: ${message}`));
      expect(faults).toEqual([]);
    }
  });

  test.each(globSync('k8s/samples/**/*.yaml', { cwd: ROOT }))(
    '%s means the same to older readers of YAML, as kubectl is',
    (path) => {
      const text = read(path);
      for (const [index, document] of parseAllDocuments(text, { version: '1.1' }).entries())
        expect(document.toJS()).toEqual(documents(path)[index]);
    },
  );

  test.each(globSync('k8s/samples/**/*.yaml', { cwd: ROOT }))(
    '%s: its Secrets are of the type that is read',
    (path) => {
      const secrets = documents(path).filter((each) => (each as { kind: unknown }).kind === 'Secret');
      expect(secrets.map((each) => (each as { type?: unknown }).type)).toEqual(
        secrets.map(() => 'gatewarden.dev/credentials'),
      );
    },
  );

  test('those of the kinds are one configuration', () => {
    const all = CUSTOM_KINDS.flatMap((kind) => documents(`k8s/samples/kinds/${fileName(kind)}.yaml`));
    expect(faultsOf(all)).toEqual([]);
  });
});

test('a definition is what kubectl takes', () => {
  const definition = parse(read('charts/gatewarden-crds/templates/virtualkeys.yaml')) as Record<string, unknown>;
  expect(definition).toMatchObject({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'virtualkeys.gatewarden.dev', annotations: { 'helm.sh/resource-policy': 'keep' } },
    spec: {
      group: 'gatewarden.dev',
      scope: 'Namespaced',
      names: { kind: 'VirtualKey', singular: 'virtualkey', shortNames: ['gwkey'], categories: ['gatewarden'] },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          selectableFields: [{ jsonPath: '.spec.workloadRef.name' }, { jsonPath: '.spec.revoked' }],
          schema: {
            openAPIV3Schema: {
              properties: {
                spec: {
                  required: ['workloadRef', 'hash'],
                  properties: { hash: { required: ['value'] }, revoked: { type: 'boolean', default: false } },
                  'x-kubernetes-validations': [
                    { rule: 'self.hash == oldSelf.hash && self.workloadRef == oldSelf.workloadRef' },
                    { rule: '!oldSelf.revoked || self.revoked', fieldPath: '.revoked' },
                  ],
                },
              },
            },
          },
        },
      ],
    },
  });
});
