import type { LocalModels, RouterInput } from '#ports/local-models.ts';
import type { Router } from '#ports/router.ts';
import type { ModelRequest, Part, Turn } from '#wire/canonical.ts';
import { decisionOf } from '#wire/systemone/decision.ts';

/** A call does not wait longer for advice that it can do without. */
const PATIENCE_MS = 1000;
/** The router reads the beginning and the end of a text. */
const MOST_CHARACTERS = { head: 48_000, tail: 16_000 };

/**
 * The router of automatic aliases on a local model. It abstains where `decision` of `gw/typed/router` would be null for
 * the same text, and where a request has no text of its own. // spec 4.4.3
 */
export function createLocalRouter(models: Pick<LocalModels, 'route'>, there: () => boolean): Router {
  return {
    async judge(request, signal) {
      const input = inputOf(request);
      if (!input || !there()) return undefined;
      const opinion = await models.route(input, AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]));
      const decision = decisionOf(opinion);
      if (!decision) return undefined;
      const { task, complexity } = opinion;
      const [likeliest] = Object.entries(task).reduce((a, b) => (b[1] > a[1] ? b : a), ['', -1]);
      return { task: likeliest, complexity: complexity.indexOf(Math.max(...complexity)), ...decision };
    },
  };
}

/** The last turn is the request; undefined where it is not the user's or has no text, such as results of tools. */
function inputOf({ system, turns }: ModelRequest): RouterInput | undefined {
  const last = turns.at(-1);
  const request = last?.role === 'user' ? textOf(last.parts) : '';
  if (last === undefined || request.trim() === '') return undefined;
  const previous = turns.findLast((turn) => turn.role === 'assistant');
  const said = previous ? saidBy(previous) : '';
  const rules = textOf(system);
  const attachments = last.parts.flatMap((part) =>
    part.type === 'media' ? [`${part.name ?? part.kind} (${part.mediaType})`] : [],
  );
  return {
    request: bounded(request),
    ...(said !== '' && { previous: bounded(said) }),
    ...(rules !== '' && { system: bounded(rules) }),
    ...(attachments.length > 0 && { attachments }),
  };
}

/** As the router was trained on it. */
function saidBy({ parts }: Turn): string {
  const text = textOf(parts);
  return text === '' ? '' : `Assistant: ${text}`;
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function bounded(text: string): string {
  const { head, tail } = MOST_CHARACTERS;
  return text.length <= head + tail ? text : `${text.slice(0, head)}\n${text.slice(-tail)}`;
}
