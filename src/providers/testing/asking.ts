import type { FitContext, Outgoing, Provider } from '#/ports/provider.ts';
import { readDocument, render, type Family } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';

/** A request to a provider as a test needs it, with the first of its credentials. */
export function outgoingTo({ config }: Provider, over: Partial<Outgoing> = {}): Outgoing {
  return {
    family: 'chat',
    model: 'm',
    stream: false,
    body: '{}',
    headers: {},
    credential: config.credentials[0],
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    ...over,
  };
}

/** A body as a provider's `fit` leaves it. */
export interface Fitted {
  readonly text: string;
  readonly body: JsonObject;
  readonly losses: readonly string[];
}

/** Fits a body to a provider and model. Throws what `fit` throws. */
export function fitTo(
  provider: Provider,
  family: Family,
  text: string,
  context: Partial<FitContext> & { readonly model: string },
): Fitted {
  const losses: string[] = [];
  const edits = provider.fit(
    readDocument(family, text),
    { stream: false, includeUsage: false, promptCache: false, organizationCacheKey: 'org-key', ...context },
    (what) => losses.push(what),
  );
  const fitted = render(text, edits);
  return { text: fitted, body: JSON.parse(fitted) as JsonObject, losses };
}
