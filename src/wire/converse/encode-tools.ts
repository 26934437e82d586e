import type { Lose, ModelRequest, Tool } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import type { Traits } from '../hub/traits.ts';
import type { CachePoints } from './cache-points.ts';

const ANY_OBJECT: JsonObject = { type: 'object', properties: {} };

/** The tools and the choice among them; nothing without tools. // wire-formats 2.1 */
export function toolConfig(
  request: ModelRequest,
  traits: Traits,
  points: CachePoints,
  lose: Lose,
): { readonly toolConfig?: JsonObject } {
  const past = pastTools(request);
  const barred = request.toolChoice?.type === 'none';
  // A history with calls is rejected without the tools; "none" cannot be said then.
  if (past.length === 0 && (barred || request.tools.length === 0)) return {};
  if (barred) lose('tool_choice');
  const tools = request.tools.length > 0 ? request.tools : past;
  const choice = barred ? undefined : toolChoice(request, traits, lose);
  return {
    toolConfig: {
      tools: tools.flatMap((tool) => [toolSpec(tool, traits, lose), ...points.after(tool)]),
      ...(choice === undefined ? {} : { toolChoice: choice }),
    },
  };
}

/** The tools that the conversation speaks of, known by no more than their names. */
function pastTools({ turns }: ModelRequest): readonly Tool[] {
  const names = new Set<string>();
  for (const { parts } of turns) {
    for (const part of parts) {
      if (part.type === 'tool-call') names.add(part.name);
      else if (part.type === 'tool-result' && part.name !== undefined) names.add(part.name);
    }
  }
  return [...names].map((name) => ({ name }));
}

function toolSpec({ name, description, parameters, strict }: Tool, traits: Traits, lose: Lose): JsonObject {
  const holds = strict === true && traits.json === 'schema';
  if (strict === true && !holds) lose('tools.strict');
  return {
    toolSpec: {
      name,
      ...(description === undefined || description.trim() === '' ? {} : { description }),
      inputSchema: { json: parameters === undefined ? ANY_OBJECT : { type: 'object', ...parameters } },
      ...(holds ? { strict } : {}),
    },
  };
}

function toolChoice({ toolChoice: choice, tools }: ModelRequest, traits: Traits, lose: Lose): JsonObject | undefined {
  if (choice === undefined || tools.length === 0 || choice.type === 'none') return undefined;
  if (choice.type === 'auto') return { auto: {} };
  if (!traits.forcedTools) {
    lose('tool_choice');
    return undefined;
  }
  return choice.type === 'tool' ? { tool: { name: choice.name } } : { any: {} };
}
