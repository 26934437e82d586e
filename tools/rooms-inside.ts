/**
 * Which folder of a room may import which other folder of it; `.`: the files at the room's root. A room that is not
 * named is free inside. A folder that is not named may import no other.
 */
const INSIDE: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  pipeline: {
    '.': ['anonymize', 'background', 'passthrough', 'tools'],
    jobs: ['.'],
    passthrough: ['.'],
  },
  dispatch: {
    '.': ['upstream', 'relay', 'cache', 'kept'],
    kept: ['upstream', 'relay'],
    passthrough: ['.', 'upstream', 'kept', 'relay'],
    relay: ['upstream'],
    tools: ['upstream'],
  },
  inspect: {
    '.': ['decoding', 'names', 'terms', 'attachments', 'restore', 'detectors', 'search'],
    attachments: ['.', 'names', 'decoding', 'terms'],
    decoding: ['.', 'detectors'],
    detectors: ['.'],
    names: ['.', 'decoding', 'terms'],
    restore: ['.', 'detectors'],
    scope: ['.'],
    search: ['.', 'detectors', 'decoding', 'terms'],
    terms: ['.', 'decoding', 'names'],
  },
  seal: {
    background: ['.', 'checkpoints', 'export', 'verify'],
    export: ['.', 'checkpoints'],
    verify: ['.', 'checkpoints', 'export'],
  },
  meter: { '.': ['limits', 'pricing'], settlement: ['.', 'limits'] },
  cli: {
    '.': ['audit', 'config', 'decode', 'explain', 'mcp', 'price', 'spend', 'stores', 'terminal'],
    audit: ['stores', 'terminal'],
    config: ['terminal'],
    decode: ['price', 'terminal'],
    explain: ['config', 'terminal'],
    mcp: ['config', 'stores', 'terminal'],
    price: ['stores', 'terminal'],
    spend: ['audit', 'config', 'stores', 'terminal'],
    stores: ['terminal'],
  },
  inference: {
    '.': ['decide', 'engine', 'http', 'jobs', 'ocr'],
    decide: ['http'],
    engine: ['formats'],
    formats: ['ocr', 'page'],
    jobs: ['engine', 'formats', 'ocr'],
    ocr: ['page'],
  },
  operators: {
    '.': ['cluster', 'publish', 'resources', 'status'],
    publish: ['resources'],
    status: ['cluster', 'resources'],
  },
  surfaces: {
    '.': ['endpoint', 'body', 'chat', 'messages', 'responses', 'clouds'],
    body: ['endpoint'],
    chat: ['endpoint'],
    clouds: ['endpoint', 'body', 'messages'],
    documents: ['endpoint', 'body', 'chat', 'passthrough'],
    mcp: ['endpoint', 'body', 'chat'],
    messages: ['endpoint'],
    models: ['endpoint', 'chat', 'messages'],
    passthrough: ['endpoint', 'body', 'chat', 'messages'],
    responses: ['endpoint', 'chat'],
  },
};

/** What every family of wire formats may use. */
const WIRE_BASE = ['document', 'request', 'answer', 'hub'];
/** Where a family is a form of another, and says so. */
const WIRE_RELATIVES: Readonly<Record<string, readonly string[]>> = {
  completions: ['chat'],
  converse: ['messages'],
  decisions: ['systemone', 'responses'],
  document: [],
};

/**
 * Folders of a room that import each other, each pair as `room: one, other` in alphabetical order. They were there when
 * the rule came. Delete a pair once it is mended; add none.
 */
const MUTUAL: ReadonlySet<string> = new Set([
  ...['attachments', 'decoding', 'detectors', 'names', 'restore', 'search', 'terms'].map((one) => `inspect: ., ${one}`),
  'pipeline: ., passthrough',
  'providers: catalogue, fit',
  'wire: hub, request',
]);

/** One line for each two folders of a room that import each other; `arrows`: what each file imports. */
export function mutualFolders(arrows: ReadonlyMap<string, readonly string[]>): string[] {
  return [...mutualPairs(arrows)]
    .filter((pair) => !MUTUAL.has(pair))
    .map((pair) => `${pair}: these folders import each other; move what both need below them`);
}

/** One line for each pair that may import each other and no longer does. */
export function mendedFolders(arrows: ReadonlyMap<string, readonly string[]>): string[] {
  const pairs = mutualPairs(arrows);
  return [...MUTUAL]
    .filter((pair) => !pairs.has(pair))
    .map((pair) => `tools/rooms-inside.ts: '${pair}' is mended: delete it from the list of mutual imports`);
}

function mutualPairs(arrows: ReadonlyMap<string, readonly string[]>): Set<string> {
  const inside = new Set<string>();
  const mutual = new Set<string>();
  for (const [path, targets] of arrows) {
    if (path.startsWith('test/')) continue;
    const [room = '', from = '.'] = foldersOf(path);
    for (const target of targets) {
      const [roomOfTarget, to = '.'] = foldersOf(target);
      if (roomOfTarget !== room || from === to) continue;
      inside.add(`${room}: ${from}, ${to}`);
      if (inside.has(`${room}: ${to}, ${from}`)) mutual.add(`${room}: ${[from, to].toSorted().join(', ')}`);
    }
  }
  return mutual;
}

/** Why `path` may not import `target`, both of one room; undefined where it may. */
export function insideReason(path: string, target: string): string | undefined {
  const [room = '', from = '.'] = foldersOf(path);
  const [, to = '.'] = foldersOf(target);
  if (from === to) return undefined;
  const allowed = room === 'wire' ? (WIRE_RELATIVES[from] ?? []) : INSIDE[room]?.[from];
  if (room !== 'wire' && !INSIDE[room]) return undefined;
  const base = room === 'wire' && from !== 'document' ? WIRE_BASE.filter((folder) => folder !== from) : [];
  const may = [...base, ...(allowed ?? [])];
  return may.includes(to)
    ? undefined
    : `${room}/${from} may not import ${room}/${to}; it may import ${may.join(', ') || 'its own files only'}`;
}

/** The room, and the folder inside unless the file lies at the room's root. A room is `src/ROOM`, or a folder of the repository's root. */
function foldersOf(path: string): string[] {
  const folders = path.split('/').slice(0, -1);
  return folders[0] === 'src' ? folders.slice(1, 3) : folders.slice(0, 2);
}
