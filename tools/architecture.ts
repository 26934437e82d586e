import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkDocuments } from './doc-check.ts';
import { cycles } from './cycles.ts';
import { longFunctions } from './function-length.ts';
import { importsOf, lineOf, resolveSpecifier, type Import } from './imports.ts';
import { insideReason, mendedFolders, mutualFolders } from './rooms-inside.ts';

/** A file as the rules see it: its path from the repository's root, with `/`, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

interface Direction {
  /** Rooms whose code may be used. */
  readonly uses: readonly string[];
  /** Rooms that may be named by `import type` only. */
  readonly types: readonly string[];
}

const MAX_LINES = 400;
const FREE = ['config', 'errors', 'telemetry'];
/** Where a process is put together: these alone know settings. */
const COMPOSED = ['settings'];
/** What every step of a call may use: its nouns, the formats, the stores' interfaces, slices of the event loop, values. */
const BASE = ['call', 'runtime', 'wire', 'ports', 'values'];
const STEPS = ['inspect', 'route', 'meter', 'seal'];
const ROOMS = [
  ...['surfaces', 'pipeline', 'dispatch', ...STEPS, ...BASE],
  ...['providers', 'vendors', 'adapters', 'cli', 'console', 'embedded', ...FREE, ...COMPOSED],
];
const IO_MODULES =
  /^(?:node:(?:fs|http|https|http2|net|tls|dns|child_process|worker_threads|cluster)\b|undici|fastify|ioredis|pg$)/;

/**
 * Which room may import which (docs/internals/architecture.md). Every room may import itself and the free ones;
 * `src/main.ts` and `src/start.js` may import all. `src/*.ts`: what main.ts composes the process with.
 */
const DIRECTIONS: Readonly<Record<string, Direction>> = {
  'src/*.ts': {
    uses: ['surfaces', 'pipeline', 'dispatch', ...STEPS, ...BASE, 'console', ...COMPOSED, 'package.json'],
    types: [],
  },
  settings: { uses: ['values'], types: [] },
  embedded: { uses: ['vendors'], types: [] },
  surfaces: { uses: ['pipeline', 'route', 'inspect', ...BASE], types: [] },
  console: { uses: ['route', 'seal', 'meter', ...BASE], types: [] },
  pipeline: { uses: ['dispatch', ...STEPS, ...BASE], types: [] },
  dispatch: { uses: [...STEPS, ...BASE, 'vendors'], types: [] },
  inspect: { uses: BASE, types: [] },
  // An alias may choose the cheapest model.
  route: { uses: ['meter', ...BASE], types: [] },
  meter: { uses: [...BASE, 'vendors'], types: [] },
  seal: { uses: ['inspect', 'meter', ...BASE], types: [] },
  call: { uses: ['values'], types: ['ports', 'wire', 'runtime'] },
  runtime: { uses: ['wire'], types: [] },
  providers: { uses: ['wire', 'ports', 'vendors'], types: [] },
  // Data of every vendor, which configuration, prices and providers read alike.
  vendors: { uses: [], types: ['wire'] },
  wire: { uses: [], types: [] },
  ports: { uses: [], types: ['values', 'wire'] },
  adapters: { uses: ['ports', 'runtime', 'values'], types: ['seal'] },
  cli: { uses: ['src/*.ts', ...ROOMS.filter((room) => room !== 'surfaces')], types: [] },
  // Plain values and functions on them: money, letters, near words.
  values: { uses: [], types: [] },
  config: { uses: ['vendors', 'values'], types: [] },
  errors: { uses: [], types: ['ports', 'wire'] },
  telemetry: { uses: ['values'], types: ROOMS },
  inference: { uses: [], types: [] },
  operators: { uses: [], types: [] },
  bridge: { uses: ['settings', 'wire'], types: [] },
};

/** Everybody else is given settings. */
const MAY_READ_ENVIRONMENT = new Set(['src/settings/reader.ts']);

/**
 * The rules on imports, exports, environment and size, on the files given. One readable line per violation, none
 * when the house is in order. `aliases` is the `imports` map of package.json.
 */
export function violations(files: readonly SourceFile[], aliases: Readonly<Record<string, string>>): string[] {
  const arrows = arrowsOf(files, aliases);
  const ofFiles = files.flatMap((file) => [
    ...importsOf(file.text).flatMap((found) => importViolations(file.path, found, aliases)),
    ...(file.path.startsWith('test/')
      ? []
      : [...shapeViolations(file), ...environmentViolations(file), ...functionViolations(file)]),
    ...tooManyLines(file),
    ...(isTest(file.path) ? [] : longFunctions(file)),
  ]);
  return [...ofFiles, ...cycles(arrows, 'file'), ...cycles(roomArrows(arrows), 'room'), ...mutualFolders(arrows)];
}

/** What each file imports that is no test, types included. */
function arrowsOf(
  files: readonly SourceFile[],
  aliases: Readonly<Record<string, string>>,
): ReadonlyMap<string, readonly string[]> {
  return new Map(files.filter(({ path }) => !isTest(path)).map((file) => [file.path, targetsOf(file, aliases)]));
}

/** What each room imports of other rooms, types included. `src/main.ts` and `src/main/` import all of them. */
function roomArrows(arrows: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const rooms = new Map<string, string[]>();
  for (const [path, targets] of arrows) {
    const from = roomOf(path);
    if (from === 'main' || !path.startsWith('src/')) continue;
    const known = rooms.get(from) ?? [];
    known.push(...targets.map(roomOf).filter((to) => to !== from && !known.includes(to)));
    rooms.set(from, known);
  }
  return rooms;
}

function targetsOf({ path, text }: SourceFile, aliases: Readonly<Record<string, string>>): string[] {
  return importsOf(text).flatMap(({ specifier }) => resolveSpecifier(path, specifier, aliases) ?? []);
}

function importViolations(path: string, found: Import, aliases: Readonly<Record<string, string>>): string[] {
  const at = `${path}:${found.line}`;
  const target = resolveSpecifier(path, found.specifier, aliases);
  if (target === undefined) return purityViolations(path, at, found);
  const reasons: string[] = [];
  const across = path.startsWith('src/') && target.startsWith('src/') && roomOf(path) !== roomOf(target);
  if (across && !found.specifier.startsWith('#') && roomOf(path) !== 'main' && roomOf(path) !== 'src/*.ts') {
    reasons.push('another room is named by its alias, #/room/file.ts');
  }
  if (!isTest(path)) reasons.push(...directionReasons(path, target, found.typeOnly));
  return reasons.map((reason) => `${at}: '${found.specifier}': ${reason}`);
}

function directionReasons(path: string, target: string, typeOnly: boolean): string[] {
  const from = roomOf(path);
  const to = roomOf(target);
  if (from === to) return [insideReason(path, target) ?? []].flat();
  if (from === 'main') return [];
  if (to === 'test') return ['only tests import from test/'];
  if (to === 'main') return ['nothing imports src/main.ts'];
  const direction = DIRECTIONS[from];
  if (!direction) return [`src/${from} is a room without a rule: give it one in tools/architecture.ts`];
  if (from === 'inference' || from === 'operators') {
    if (['config', 'telemetry', 'ports', 'settings', 'values'].includes(to) || path === 'operators/main.ts') return [];
    return [`${from} imports src/config, src/settings, src/telemetry, src/ports and src/values only`];
  }
  if (FREE.includes(to) || direction.uses.includes(to)) return [];
  if (direction.types.includes(to)) return typeOnly ? [] : [`${from} imports only types of ${to} (import type)`];
  if (to === 'adapters') return ['only src/main.ts, src/main/, src/cli and tests import adapters'];
  const allowed = [...direction.uses, ...FREE.filter((room) => room !== from)].join(', ');
  return [`${from} may not import ${to}; it may import ${allowed}`];
}

function purityViolations(path: string, at: string, found: Import): string[] {
  if (roomOf(path) !== 'wire' || isTest(path) || !IO_MODULES.test(found.specifier)) return [];
  return [`${at}: '${found.specifier}': wire is pure, it does no input or output`];
}

function shapeViolations({ path, text }: SourceFile): string[] {
  const found: string[] = [];
  const exported = /^export (?:default\b|\{[^}]*\bas default\b)/m.exec(text);
  if (exported) found.push(`${path}:${lineOf(text, exported.index)}: default export; exports are named`);
  return found;
}

/** Tests and their helpers, too. */
function tooManyLines({ path, text }: SourceFile): string[] {
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  return lines > MAX_LINES ? [`${path}: ${lines} lines; at most ${MAX_LINES}`] : [];
}

function environmentViolations({ path, text }: SourceFile): string[] {
  if (MAY_READ_ENVIRONMENT.has(path) || isTest(path)) return [];
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, (comment) => comment.replace(/[^\n]/g, ' '));
  const read = /\bprocess\.env\b|\bprocess\[|import \{[^}]*\benv\b[^}]*\} from 'node:process'/.exec(code);
  return read ? [`${path}:${lineOf(text, read.index)}: reads the environment; only src/settings/reader.ts does`] : [];
}

/** What runs for each call. */
const OF_A_CALL =
  /^src\/(?:surfaces|pipeline|dispatch|inspect|route|meter|seal|call|runtime|wire|providers|adapters)\//;
const ASSIGNED_FUNCTION = /\.#?\w+ = (?:async )?(?:function\b|(?:\([^()]*\)|\w+)(?:: [^=]{1,80})? =>)/;

/**
 * V8 allocates as old a function that is written where a property is assigned, and all that it sees then stays until the
 * whole heap is collected: the request of a call, at the worst.
 */
function functionViolations({ path, text }: SourceFile): string[] {
  if (!OF_A_CALL.test(path) || isTest(path)) return [];
  return text.split('\n').flatMap((line, index) => {
    if (!ASSIGNED_FUNCTION.test(line)) return [];
    return [
      `${path}:${index + 1}: give the function a name first, then assign it to the property: V8 keeps it for long`,
    ];
  });
}

/** `src/main/` is what `src/main.ts` is too long for; `src/wire/chat/read-contents.ts` is in `wire`, `src/gateway.ts` in `src/*.ts`, `inference/server.ts` in `inference`. */
function roomOf(path: string): string {
  if (path === 'src/main.ts' || path === 'src/start.js') return 'main';
  const [top = '', second = ''] = path.split('/');
  if (top !== 'src') return top;
  return second.endsWith('.ts') ? 'src/*.ts' : second;
}

function isTest(path: string): boolean {
  return path.startsWith('test/') || path.includes('/testing/') || path.endsWith('.test.ts');
}

/** Applies every rule to the repository at `root`. */
export function checkRepository(root: string): string[] {
  const list = (pattern: string): string[] =>
    globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] })
      .map((path) => path.replaceAll('\\', '/'))
      .sort();
  const read = (path: string): SourceFile => ({ path, text: readFileSync(join(root, path), 'utf8') });
  const code = list('{src,inference,operators,bridge,test}/**/*.{ts,js}').map(read);
  const { imports } = JSON.parse(read('package.json').text) as { imports: Record<string, string> };
  return [...violations(code, imports), ...mendedFolders(arrowsOf(code, imports)), ...checkDocuments(root)];
}

if (import.meta.main) {
  const found = checkRepository(join(import.meta.dirname, '..'));
  for (const line of found) console.error(line);
  process.exitCode = found.length > 0 ? 1 : 0;
}
