/**
 * Which folder of a room may import which other folder of it; `.`: the files at the room's root. A room that is not
 * named is free inside. A folder that is not named may import no other.
 */
const INSIDE: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  pipeline: {
    '.': ['anonymize', 'background', 'passthrough'],
    background: ['.'],
    jobs: ['.'],
    passthrough: ['.'],
  },
  dispatch: {
    '.': ['relay', 'cache', 'kept'],
    kept: ['.', 'passthrough', 'relay'],
    passthrough: ['.', 'kept', 'relay'],
    relay: ['.'],
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
    '.': ['checkpoints', 'verify'],
    checkpoints: ['export', 'verify'],
    export: ['.', 'checkpoints'],
    verify: ['.', 'checkpoints', 'export'],
  },
  meter: { '.': ['limits', 'pricing'], limits: ['.'], settlement: ['.', 'limits'] },
  surfaces: {
    '.': ['chat', 'messages', 'responses', 'clouds', 'body'],
    body: ['.'],
    chat: ['.'],
    clouds: ['.', 'messages'],
    documents: ['.', 'body', 'chat', 'passthrough'],
    messages: ['.'],
    models: ['.', 'chat', 'messages'],
    passthrough: ['.', 'body', 'chat', 'messages'],
    responses: ['.', 'chat'],
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

/** Why `path` may not import `target`, both of one room under src/; undefined where it may. */
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

/** The room, and the folder inside unless the file lies at the room's root. */
function foldersOf(path: string): string[] {
  return path.split('/').slice(1, -1).slice(0, 2);
}
