import { full } from 'acorn-walk';
import type { AnyNode, Program } from 'acorn';
import { expect, test } from 'vitest';
import { ownModules } from './own-code.ts';

/**
 * Calls that take a list as arguments, whose number the engine bounds: some 100,000 end in `Maximum call stack size
 * exceeded`. By file and list, with what bounds it.
 */
const BOUNDED: Readonly<Record<string, string>> = {
  'operators/controller.ts: map': 'gateways, or kinds of resources',
  'src/meter/pricing/price-book.ts: filter': 'prices of one model, as many as it has dates',
  'src/config/compile/prices.ts: dated': 'prices of one row of a PriceBook, as many as it has dates',
  'src/cli/mcp/probe.ts: map': 'MOST_TOOLS tools of a server',
  'src/cli/mcp/tools.ts: map': 'pins of a server, at most twice MOST_TOOLS',
  'src/settings/gateway-settings.ts: processesFaults': 'a few settings',
  'src/embedded/resources.ts: playground': 'a fixed list',
  'src/inspect/detectors/account-groups.ts: LENGTHS': 'a fixed list',
  'src/inspect/detectors/numbers.ts: flatMap': 'a fixed list',
  'src/inspect/extension.ts: readTerms': 'at most MAX_TERMS in a member',
  'src/inspect/scope/scope-guard.ts: map': 'at most MOST_PARTS answers',
  'src/route/fitness.ts: map': 'targets of one call',
  'src/route/local-router.ts: complexity': 'a fixed list',
  'src/pipeline/passthrough/counts.ts: told': 'one of each ceiling',
  'src/dispatch/travelling-files.ts: replaceFile': 'a few edits of one file',
  'src/meter/settlement/settler.ts: waiting': 'one batch of settlements',
  'src/providers/http/failure.ts: waits': 'a fixed list of headers',
  'src/wire/chat/decode-calls.ts: #makeRoom': 'ends one call at most',
  'src/wire/chat/decode-stream.ts: #closeText': 'ends one text at most',
  'src/wire/chat/decode-stream.ts: read': 'a few events for one piece',
  'src/wire/gemini/decode-stream.ts: events': 'arguments already',
  'src/wire/responses/encode-stream.ts: begin': 'a few events',
  'src/wire/responses/encode-stream.ts: #sealMessage': 'a few events',
  'src/wire/systemone/answers.ts: probabilities': 'options of one question',
  'src/wire/decisions/answers.ts: probabilities': 'options of one question',
  'src/adapters/redis/view.ts: decodeHolds': 'MOST_ASKED holds',
  'src/adapters/postgres/maintain.ts: map': 'MONTHS_AHEAD partitions',
  'inference/decide/glossary.ts: scores': 'a fixed list',
  'inference/decide/piece-names.ts: ids': 'pieces of one word',
  'inference/decide/piece-names.ts: end': 'a fixed list',
  'inference/decide/typed-graph.ts: map': 'one batch of texts',
  'inference/decide/typed.ts: ConditionalExpression': 'options of one question',
  'inference/decide/typed.ts: logits': 'options of one question',
  'inference/formats/decode-text.ts: scores': 'a fixed list',
  'inference/formats/pdf/geometry.ts: xs': 'four corners',
  'inference/formats/pdf/geometry.ts: ys': 'four corners',
  'inference/formats/text/csv.ts: counts': 'a fixed list',
  'inference/ocr/columns.ts: slice': 'one line',
  'inference/ocr/page-view.ts: xs': 'four corners',
  'inference/ocr/page-view.ts: ys': 'four corners',
};

const MODULES = ownModules();

test('no list that a caller makes long is spread over the arguments of a call', () => {
  const found = new Set(MODULES.flatMap(({ file, program }) => spreadsIn(file, program)));
  const unexplained = [...found].filter((place) => !((place.split('@')[0] ?? '') in BOUNDED));
  expect(unexplained, 'push one by one, or reduce; or say in BOUNDED what bounds the list').toEqual([]);
  const there = new Set([...found].map((place) => place.split('@')[0]));
  expect(Object.keys(BOUNDED).filter((place) => !there.has(place))).toEqual([]);
});

test('every module is looked at', () => {
  expect(MODULES.length).toBeGreaterThan(500);
  expect(MODULES.map(({ file }) => file)).toContain('src/main.ts');
});

function spreadsIn(file: string, program: Program): readonly string[] {
  const found: string[] = [];
  full(program, (node) => {
    if (node.type !== 'CallExpression') return;
    const { callee, arguments: given } = node;
    if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
    if (!SPREADING.has(callee.property.name)) return;
    for (const one of given)
      if (one.type === 'SpreadElement') found.push(`${file}: ${nameOf(one.argument)}@${one.loc?.start.line ?? 0}`);
  });
  return found;
}

const SPREADING = new Set([
  'push',
  'unshift',
  'splice',
  'max',
  'min',
  'concat',
  'fromCharCode',
  'fromCodePoint',
  'apply',
  'call',
]);

/** What a list is called by: its variable, its member, or the function that makes it. */
function nameOf(node: AnyNode): string {
  if (node.type === 'CallExpression') return nameOf(node.callee);
  if (node.type === 'MemberExpression') return nameOf(node.property);
  if (node.type === 'PrivateIdentifier') return `#${node.name}`;
  return node.type === 'Identifier' ? node.name : node.type;
}
