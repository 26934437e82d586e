import { stringify } from 'yaml';
import { CUSTOM_KINDS } from '../resources/kinds.ts';
import { definitionOf } from './definition.ts';
import { PRESENTATION } from './presentation.ts';
import { fileName, referenceIndex, referenceOf } from './reference.ts';

const HEADER = '# Written by `make crds` from src/config/resources.\n';

/** Every file that follows from the schemas, by its path from the repository's root: definitions and reference. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const kind of CUSTOM_KINDS) {
    // No aliases of YAML: Helm and kubectl print what they read, and people read that.
    const text = stringify(definitionOf(kind), { lineWidth: 120, aliasDuplicateObjects: false });
    files.set(`charts/gatewarden-crds/templates/${PRESENTATION[kind].plural}.yaml`, `${HEADER}${text}`);
    files.set(`k8s/docs/${fileName(kind)}.md`, referenceOf(kind));
  }
  files.set('k8s/docs/README.md', referenceIndex(CUSTOM_KINDS));
  return files;
}
