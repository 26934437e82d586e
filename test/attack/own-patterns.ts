import type { CallExpression, Node } from 'acorn';
import { full } from 'acorn-walk';
import { ownModules, ROOT } from './own-code.ts';

/** A regular expression of the product. */
export interface OwnPattern {
  /** Where it is written, or built: `src/wire/document/scan.ts:12`. */
  readonly place: string;
  readonly file: string;
  readonly pattern: RegExp;
}

/** A place where a pattern is built of parts: what it is, is known only when that is run. */
export interface Building {
  readonly place: string;
  readonly file: string;
}

/** Every pattern that is written down, and the places where others are built. */
export function writtenPatterns(): { readonly patterns: readonly OwnPattern[]; readonly built: readonly Building[] } {
  const patterns: OwnPattern[] = [];
  const built: Building[] = [];
  for (const { file, program } of ownModules()) {
    full(program, (node) => {
      const place = `${file}:${node.loc?.start.line ?? 0}`;
      const literal = literalOf(node);
      if (literal) patterns.push({ place, file, pattern: literal });
      const given = givenTo(node);
      if (!given) return;
      const [source, flags = ''] = given.map(textOf);
      if (source === undefined) built.push({ place, file });
      else patterns.push({ place, file, pattern: new RegExp(source, flags) });
    });
  }
  return { patterns, built };
}

/** Patterns that are built when these modules are loaded and `use` is run. */
export async function builtPatterns(files: Iterable<string>, use: () => Promise<void>): Promise<readonly OwnPattern[]> {
  const patterns: OwnPattern[] = [];
  const original = globalThis.RegExp;
  const make = (target: typeof RegExp, given: unknown[]): RegExp => {
    const pattern = Reflect.construct(target, given) as RegExp;
    const frame = new Error('where').stack?.split('\n').find((line) => /\/(?:src|inference|operators)\//.test(line));
    const [, file = ''] = /((?:src|inference|operators)\/[\w./-]+\.ts)/.exec(frame ?? '') ?? [];
    if (file !== '') patterns.push({ place: file, file, pattern });
    return pattern;
  };
  globalThis.RegExp = new Proxy(original, {
    construct: make,
    apply: (target, _self, given: unknown[]) => make(target, given),
  });
  try {
    for (const file of files) await import(`${ROOT}${file}`);
    await use();
  } finally {
    globalThis.RegExp = original;
  }
  return patterns;
}

function literalOf(node: Node): RegExp | undefined {
  const { regex } = node as Node & { readonly regex?: { readonly pattern: string; readonly flags: string } };
  return node.type === 'Literal' && regex ? new RegExp(regex.pattern, regex.flags) : undefined;
}

/** What a pattern is built of. */
function givenTo(node: Node): CallExpression['arguments'] | undefined {
  if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return undefined;
  const { callee, arguments: given } = node as CallExpression;
  return callee.type === 'Identifier' && callee.name === 'RegExp' ? given : undefined;
}

/** A text that stands there as it is. */
function textOf(node: CallExpression['arguments'][number]): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  const isRaw = node.type === 'TaggedTemplateExpression';
  const template = isRaw ? node.quasi : node;
  if (template.type !== 'TemplateLiteral' || template.expressions.length > 0) return undefined;
  const { raw, cooked } = template.quasis[0]!.value;
  return isRaw ? raw : (cooked ?? raw);
}
