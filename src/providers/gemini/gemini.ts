import type { Outgoing } from '#/ports/provider.ts';
import { embeddingsDialectOf } from '../catalogue/embedding-models.ts';
import { embed, readEmbeddingsAsk } from '../base/embeddings.ts';
import { readFailure } from '../http/failure.ts';
import { geminiBatch } from './embeddings.ts';
import { configured, httpExit, type HttpApi } from '../http/http-api.ts';
import { fitRejected } from '../fit/fitting.ts';
import { GEMINI_LIST, listModels } from '../catalogue/model-list.ts';
import type { CreateProvider } from '../base/create-provider.ts';

/** Google's Gemini API: the model is in the address, the key in a header of its own. // wire-formats 1.1 */
export const gemini: CreateProvider = (config, { transport, traits }) => {
  const place = configured(config);
  const authorize: HttpApi['authorize'] = (credential) => (credential ? { 'x-goog-api-key': credential.secret } : {});
  const exit = httpExit({ base: config.url, authorize, path: pathOf }, transport);
  const embeds = (model: string): boolean => embeddingsDialectOf('gemini', place.upstreamModel(model)) !== undefined;
  return {
    config,
    ...place,
    families: (model) => (embeds(model) ? ['embeddings'] : ['gemini']),
    traits: (model) => traits(config, model),
    fit(document, { model }, lose) {
      if (document.family === 'embeddings') readEmbeddingsAsk(document.body);
      return fitRejected(document, traits(config, model), lose);
    },
    send(outgoing) {
      if (outgoing.family !== 'embeddings') return exit.send(outgoing);
      return embed(outgoing, geminiBatch, (body) => exit.send({ ...outgoing, body }));
    },
    list: (ask) => listModels(GEMINI_LIST, exit.pass, ask),
    readFailure,
  };
};

function pathOf({ family, model, stream }: Outgoing): string {
  return `/models/${encodeURIComponent(model)}${methodOf(family === 'embeddings', stream)}`;
}

function methodOf(embeddings: boolean, stream: boolean): string {
  if (embeddings) return ':batchEmbedContents';
  return stream ? ':streamGenerateContent?alt=sse' : ':generateContent';
}
