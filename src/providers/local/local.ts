import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { DocumentEngine } from '#/ports/documents.ts';
import type { LocalModels } from '#/ports/local-models.ts';
import type { Provider } from '#/ports/provider.ts';
import { LOCAL_OPTIONS } from '#/wire/decisions/codec.ts';
import type { Family } from '#/wire/document/document.ts';
import { UNKNOWN_MODEL } from '#/wire/hub/traits.ts';
import { decideBySystemOne, fitDecisions } from '../base/decisions.ts';
import { decide } from './decide.ts';
import { readOcrRequest } from './ocr-request.ts';
import { recognize } from './recognize.ts';

/** What the gateway's own answers come from. */
export interface LocalDeps {
  readonly engine: DocumentEngine;
  readonly models: LocalModels;
  /** Whether a model of the gateway's own can answer now. */
  readonly answers: (model: string) => boolean;
}

const FAMILIES: Readonly<Record<string, readonly Family[]>> = {
  ocr: ['ocr'],
  typed: ['systemone', 'decisions'],
  'typed/router': ['systemone'],
};

/** What the gateway answers itself, reached like any provider: text recognition and decisions. // spec 2.4, 4.4 */
export function createLocalProvider({ engine, models, answers }: LocalDeps): Provider {
  return {
    config: LOCAL_PROVIDER,
    answers,
    families: (model) => FAMILIES[model] ?? [],
    upstreamModel: (model) => `${LOCAL_PROVIDER.slug}/${model}`,
    jurisdiction: () => LOCAL_PROVIDER.jurisdiction,
    traits: () => UNKNOWN_MODEL,
    fit: (document, { model }, lose) => {
      // What cannot be served is refused before anything is held for it.
      if (document.family === 'ocr') readOcrRequest(document.body);
      fitDecisions(document, { decides: 'systemone' }, `${LOCAL_PROVIDER.slug}/${model}`, lose, LOCAL_OPTIONS);
      return [];
    },
    send: (outgoing) => {
      if (outgoing.family === 'decisions') return decideBySystemOne(outgoing, (asked) => decide(asked, models));
      return outgoing.family === 'systemone' ? decide(outgoing, models) : recognize(outgoing, engine);
    },
    readFailure: () => ({ message: undefined, retryAfterMs: undefined, retryable: false, status: undefined }),
  };
}
