import { KINDS, type CustomKindName } from '../resources/kinds.ts';
import { API_VERSION, GROUP } from '../resources/schema.ts';
import { PRESENTATION, type Column } from './presentation.ts';
import { statusSchema } from './status.ts';
import { toStructural, type StructuralNode } from './structural.ts';

const CONDITION_COLUMNS: readonly Column[] = [
  { ...conditionColumn('Accepted'), wide: true },
  { ...conditionColumn('ResolvedRefs'), wide: true },
  conditionColumn('Programmed'),
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];

function conditionColumn(type: string): Column {
  return { name: type, type: 'string', jsonPath: `.status.conditions[?(@.type=='${type}')].status` };
}

/** The schemas of `spec` and `status` of a kind as the API server has them. */
export function schemasOf(kind: CustomKindName): { readonly spec: StructuralNode; readonly status: StructuralNode } {
  const { schema, rules } = KINDS[kind];
  const status = toStructural(statusSchema(kind), 'status', []);
  return {
    spec: toStructural(schema.properties.spec, 'spec', rules),
    status: { description: 'The state that the controller found. Only the controller writes it.', ...status },
  };
}

/** The CustomResourceDefinition of a kind. Helm keeps it when its release is removed: with it every resource would go. */
export function definitionOf(kind: CustomKindName): object {
  const { plural, shortName, description, columns, selectable } = PRESENTATION[kind];
  const { spec, status } = schemasOf(kind);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${GROUP}`,
      labels: { 'app.kubernetes.io/part-of': 'gatewarden' },
      annotations: { 'helm.sh/resource-policy': 'keep' },
    },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        categories: ['gatewarden'],
      },
      versions: [
        {
          name: API_VERSION.slice(GROUP.length + 1),
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [...columns, ...CONDITION_COLUMNS].map(({ wide, ...column }) => ({
            ...column,
            ...(wide && { priority: 1 }),
          })),
          ...(selectable && { selectableFields: selectable.map((field) => ({ jsonPath: `.spec.${field}` })) }),
          schema: {
            openAPIV3Schema: {
              description,
              type: 'object',
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string', description: `${API_VERSION}.` },
                kind: { type: 'string', description: `${kind}.` },
                metadata: { type: 'object' },
                spec: { description: 'The desired state.', ...spec },
                status,
              },
            },
          },
        },
      ],
    },
  };
}
