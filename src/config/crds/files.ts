import { stringify } from 'yaml';
import { CUSTOM_KINDS } from '../resources/kinds.ts';
import { definitionOf } from './definition.ts';
import { PRESENTATION } from './presentation.ts';
import { fileName, referenceIndex, referenceOf } from './reference.ts';

const HEADER = '# Written by `make crds` from src/config/resources.\n';

/** The definitions that follow from the schemas, by their paths from the repository's root. */
export function definitionFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const kind of CUSTOM_KINDS) {
    // No aliases of YAML: Helm and kubectl print what they read, and people read that.
    const text = stringify(definitionOf(kind), { lineWidth: 120, aliasDuplicateObjects: false });
    files.set(`charts/gatewarden-crds/templates/${PRESENTATION[kind].plural}.yaml`, `${HEADER}${text}`);
  }
  return files;
}

/** The pages of the reference about kinds, by their names. */
export function resourcePages(): ReadonlyMap<string, string> {
  const pages = new Map(CUSTOM_KINDS.map((kind) => [`${fileName(kind)}.md`, referenceOf(kind)]));
  return pages.set('README.md', referenceIndex(CUSTOM_KINDS));
}
