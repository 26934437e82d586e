import type { Surface } from '#/call/call.ts';
import type { PassthroughCall, Gate } from '#/call/passthrough-call.ts';
import { OPERATION_OBJECTS } from '#/wire/kept/table.ts';

/** One kind of call that is passed on. */
export interface Operation extends Pick<
  PassthroughCall,
  'method' | 'quantities' | 'ownKeyOnly' | 'prefixIds' | 'objects'
> {
  readonly surface: Surface;
  /** Fastify path. `:id` is an id that may carry the provider's prefix. */
  readonly path: string;
  /** The body names the model that serves it. */
  readonly named: boolean;
  /** Absent: a surface of its own, which policy need not open. */
  readonly gate?: Gate;
}

type Row = readonly [method: Operation['method'], path: string];
type Common = Omit<Operation, 'method' | 'path' | 'objects'>;

/** Throws where the table of objects does not say what an operation does with them. */
function operations(rows: readonly Row[], common: Common): readonly Operation[] {
  return rows.map(([method, path]) => {
    const name = `${method} ${path}`;
    if (!isListed(name)) throw new TypeError(`${name} is not in the table of kept objects`);
    return { method, path, objects: OPERATION_OBJECTS[name], ...common };
  });
}

function isListed(name: string): name is keyof typeof OPERATION_OBJECTS {
  return Object.hasOwn(OPERATION_OBJECTS, name);
}

const FILES: readonly Row[] = [
  ['POST', '/v1/files'],
  ['GET', '/v1/files'],
  ['GET', '/v1/files/:id'],
  ['GET', '/v1/files/:id/content'],
  ['DELETE', '/v1/files/:id'],
];

/** What policy must open. Sources: developers.openai.com/api/reference (batches, uploads). */
function gated(word: string, isFree: boolean): Common {
  return {
    surface: 'passthrough',
    named: false,
    quantities: [],
    ownKeyOnly: true,
    prefixIds: true,
    gate: { word, isKnown: true, isFree },
  };
}

/**
 * Operations that are passed on, and how they are billed. A call without a model is sealed, but not billed. // spec
 * 1.3, 4.1, 8
 */
export const OPERATIONS: readonly Operation[] = [
  ...operations(
    [
      ['POST', '/v1/audio/transcriptions'],
      ['POST', '/v1/audio/translations'],
    ],
    { surface: 'audio', named: true, quantities: ['seconds', 'tokens'], ownKeyOnly: false, prefixIds: false },
  ),
  ...operations([['POST', '/v1/audio/speech']], {
    surface: 'audio',
    named: true,
    quantities: ['tokens', 'seconds', 'calls'],
    ownKeyOnly: false,
    prefixIds: false,
  }),
  ...operations(
    [
      ['POST', '/v1/images/edits'],
      ['POST', '/v1/images/variations'],
    ],
    { surface: 'images', named: true, quantities: ['images', 'tokens'], ownKeyOnly: false, prefixIds: false },
  ),
  ...operations([['POST', '/v1/videos']], {
    surface: 'videos',
    named: true,
    quantities: ['seconds', 'calls'],
    ownKeyOnly: false,
    prefixIds: true,
  }),
  // What a remix costs depends on a model that it does not name: the organization's own account pays for it.
  ...operations([['POST', '/v1/videos/:id/remix']], {
    surface: 'videos',
    named: false,
    quantities: [],
    ownKeyOnly: true,
    prefixIds: true,
  }),
  ...operations(
    [
      ['GET', '/v1/videos'],
      ['GET', '/v1/videos/:id'],
      ['GET', '/v1/videos/:id/content'],
      ['DELETE', '/v1/videos/:id'],
    ],
    { surface: 'videos', named: false, quantities: [], ownKeyOnly: false, prefixIds: true },
  ),
  ...operations(FILES, { surface: 'files', named: false, quantities: [], ownKeyOnly: true, prefixIds: true }),
  // Their ids stay those of the vendor: the records say who owns them, and at which provider.
  ...operations(
    [
      ['GET', '/v1/responses/:id'],
      ['DELETE', '/v1/responses/:id'],
      ['POST', '/v1/responses/:id/cancel'],
      ['GET', '/v1/responses/:id/input_items'],
    ],
    { surface: 'responses', named: false, quantities: [], ownKeyOnly: true, prefixIds: false },
  ),
  // The cost of a batch is in a file that the gateway does not read: a price book sets the price of creating one.
  ...operations([['POST', '/v1/batches']], gated('batches', false)),
  ...operations(
    [
      ['GET', '/v1/batches'],
      ['GET', '/v1/batches/:id'],
      ['POST', '/v1/batches/:id/cancel'],
    ],
    gated('batches', true),
  ),
  ...operations(
    [
      ['POST', '/v1/uploads'],
      ['POST', '/v1/uploads/:id/parts'],
      ['POST', '/v1/uploads/:id/complete'],
      ['POST', '/v1/uploads/:id/cancel'],
    ],
    gated('uploads', true),
  ),
  // Mistral's completions between two texts, and vLLM's scores of pairs of texts: nothing is kept.
  ...operations([['POST', '/v1/fim/completions']], { ...gated('fim', false), named: true, ownKeyOnly: false }),
  ...operations([['POST', '/v1/score']], { ...gated('score', false), named: true, ownKeyOnly: false }),
];
