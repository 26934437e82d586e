import { stripTypeScriptTypes } from 'node:module';
import { parse } from 'acorn';
import { fullAncestor } from 'acorn-walk';

const MAX_LINES = 60;

/** Functions that were longer when the rule came, with their lengths, which only fall. Delete a line once its function is short. */
const LONGER: Readonly<Record<string, number>> = {
  'inference/decide/typed-graph.ts openTypedGraph': 63,
  'inference/decide/glossary.ts formsOf': 62,
};

/** The functions of a TypeScript text that are too long, one line each. */
export function longFunctions({ path, text }: { readonly path: string; readonly text: string }): string[] {
  if (text.split('\n').length <= MAX_LINES) return [];
  const found: string[] = [];
  const tree = parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module', locations: true });
  fullAncestor(tree, (node, _state, ancestors) => {
    if (!/Function/.test(node.type) || !node.loc) return;
    const lines = node.loc.end.line - node.loc.start.line + 1;
    const name = nameOf(node) ?? nameOf(ancestors.at(-2)) ?? '(no name)';
    const most = LONGER[`${path} ${name}`] ?? MAX_LINES;
    if (lines > most) found.push(`${path}:${node.loc.start.line}: ${name} has ${lines} lines; at most ${most}`);
  });
  return found;
}

function nameOf(node: object | undefined): string | undefined {
  const { id, key } = (node ?? {}) as { id?: { name?: string } | null; key?: { name?: string } };
  return id?.name ?? key?.name;
}
