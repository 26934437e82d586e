import type { LocalModels, Router } from '#/ports/local-models.ts';
import type { ModelRequest, Part } from '#/wire/hub/canonical.ts';
import { decisionOf } from '#/wire/systemone/decision.ts';
import { routerState, saysSomething, type RouterState } from '#/wire/systemone/state.ts';

/** A call does not wait longer for advice that it can do without. */
const PATIENCE_MS = 1000;

/**
 * The router of automatic aliases on a local model. It abstains where `decision` of `gw/typed/router` is null for the same
 * text. // spec 4.4.3
 */
export function createLocalRouter(models: Pick<LocalModels, 'route'>, there: () => boolean): Router {
  return {
    async judge(request, signal) {
      const state = stateOf(request);
      if (!saysSomething(state) || !there()) return undefined;
      const opinion = await models.route(state, AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]));
      const decision = decisionOf(opinion);
      if (!decision) return undefined;
      const { task, complexity } = opinion;
      const [likeliest] = Object.entries(task).reduce((a, b) => (b[1] > a[1] ? b : a), ['', -1]);
      return { task: likeliest, complexity: complexity.indexOf(Math.max(...complexity)), ...decision };
    },
  };
}

/** The last turn is the request; it says nothing where it is not the user's or has no text, such as results of tools. */
function stateOf({ system, turns }: ModelRequest): RouterState {
  const last = turns.at(-1);
  const parts = last?.role === 'user' ? last.parts : [];
  return routerState({
    request: textOf(parts),
    previous: textOf(turns.findLast(({ role }) => role === 'assistant')?.parts ?? []),
    system: textOf(system),
    attachments: parts.flatMap((part) =>
      part.type === 'media' ? [`${part.name ?? part.kind} (${part.mediaType})`] : [],
    ),
  });
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
