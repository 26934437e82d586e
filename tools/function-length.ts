import { stripTypeScriptTypes } from 'node:module';
import { parse } from 'acorn';
import { fullAncestor } from 'acorn-walk';

const MAX_LINES = 60;

/** The functions of a TypeScript text that are too long, one line each. */
export function longFunctions({ path, text }: { readonly path: string; readonly text: string }): string[] {
  if (text.split('\n').length <= MAX_LINES) return [];
  const found: string[] = [];
  const tree = parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module', locations: true });
  fullAncestor(tree, (node, _state, ancestors) => {
    if (!/Function/.test(node.type) || !node.loc) return;
    const lines = node.loc.end.line - node.loc.start.line + 1;
    const name = nameOf(node) ?? nameOf(ancestors.at(-2)) ?? '(no name)';
    if (lines > MAX_LINES)
      found.push(`${path}:${node.loc.start.line}: ${name} has ${lines} lines; at most ${MAX_LINES}`);
  });
  return found;
}

function nameOf(node: object | undefined): string | undefined {
  const { id, key } = (node ?? {}) as { id?: { name?: string } | null; key?: { name?: string } };
  return id?.name ?? key?.name;
}
