import type { Lose, Tool, ToolCallPart } from '../hub/canonical.ts';
import { BadRequestShape, type AnswerContext } from '../hub/codec.ts';
import { argumentsOf, customTool, inputOf } from '../hub/custom-tool.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { defined, says } from '../hub/defined-members.ts';
import {
  isArray,
  optionalArray,
  optionalBoolean,
  optionalObject,
  optionalString,
  requiredString,
} from '../request/request-shape.ts';

/** A tool as another family's models are told of it, and what the client calls it. */
interface OwnTool {
  readonly tool: Tool;
  readonly kind: 'function' | 'custom' | keyof typeof CLIENT_RUN;
  readonly name: string;
  readonly namespace?: string;
}

const FUNCTION_MEMBERS = new Set(['type', 'name', 'description', 'parameters', 'strict']);
const CUSTOM_MEMBERS = new Set(['type', 'name', 'description', 'format']);
/** Deeper than one namespace in another none are. */
const BETWEEN = '__';

const text = { type: 'string' } as const;
const whole = { type: 'integer' } as const;
const object = (properties: JsonObject, ...required: string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
});

const number = { type: 'number' } as const;
/** // openai-node, resource `responses`: ComputerAction */
const ACTION = {
  type: 'object',
  description:
    'click and double_click take x, y (click: button), move x, y; drag a path; scroll x, y, scroll_x, scroll_y; keypress keys; ' +
    'type text; screenshot and wait nothing.',
  properties: {
    type: {
      type: 'string',
      enum: ['click', 'double_click', 'drag', 'keypress', 'move', 'screenshot', 'scroll', 'type', 'wait'],
    },
    x: number,
    y: number,
    button: { type: 'string', enum: ['left', 'right', 'wheel', 'back', 'forward'] },
    path: { type: 'array', items: { type: 'object', properties: { x: number, y: number }, required: ['x', 'y'] } },
    scroll_x: number,
    scroll_y: number,
    keys: { type: 'array', items: text },
    text,
  },
  required: ['type'],
} as const;

/** Tools of the vendor's that the client runs, by their types: what a model must be told to call them. */
const CLIENT_RUN = {
  local_shell: {
    description: 'Runs a command on the user’s machine. The first item of command is the program.',
    parameters: object(
      { command: { type: 'array', items: text }, working_directory: text, timeout_ms: whole, user: text },
      'command',
    ),
  },
  shell: {
    description: 'Runs commands in a shell and returns what they print.',
    parameters: object(
      { commands: { type: 'array', items: text }, timeout_ms: whole, max_output_length: whole },
      'commands',
    ),
  },
  computer: {
    description: 'Acts on a computer, action by action, and returns a screenshot. Take one to see it first.',
    parameters: object({ actions: { type: 'array', items: ACTION } }, 'actions'),
  },
  computer_use_preview: {
    description: 'Does one action on a computer, and returns a screenshot. Take one to see it first.',
    parameters: object({ action: ACTION }, 'action'),
  },
  apply_patch: {
    description: 'Creates, updates or deletes one file. diff is in the V4A format: no diff to delete a file.',
    parameters: object(
      {
        operation: object(
          { type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] }, path: text, diff: text },
          'type',
          'path',
        ),
      },
      'operation',
    ),
  },
} as const;

/** The name of a function in a namespace where there are none. */
export function flatName(name: string, namespace: Json | undefined): string {
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}${BETWEEN}${name}` : name;
}

/**
 * The tools of a request that another family's models can be given; those that the vendor runs itself are lost by name.
 * Throws `BadRequestShape`. // spec 4.5.4
 */
export function ownTools(body: JsonObject, lose: Lose): readonly OwnTool[] {
  return (optionalArray(body, 'tools') ?? []).flatMap((tool, index) => readTool(tool, `tools[${index}]`, lose));
}

function readTool(tool: Json, param: string, lose: Lose, namespace?: string): readonly OwnTool[] {
  if (!isObject(tool)) throw new BadRequestShape(`${param} must be an object`, param);
  const type = requiredString(tool, 'type', param);
  if (type === 'function') return [named(readFunction(tool, param, lose), type, namespace)];
  if (type === 'custom') return [named(readCustom(tool, param, lose), type, namespace)];
  if (isClientRun(type)) {
    const { description, parameters } = CLIENT_RUN[type];
    const told = [description, displayOf(tool)].filter(Boolean).join(' ');
    return [{ tool: { name: type, description: told, parameters }, kind: type, name: type }];
  }
  if (type !== 'namespace' || namespace !== undefined) {
    lose(`tools[${type.slice(0, 64)}]`);
    return [];
  }
  const name = requiredString(tool, 'name', param);
  const inner = optionalArray(tool, 'tools', `${param}.tools`) ?? [];
  return inner.flatMap((one, index) => readTool(one, `${param}.tools[${index}]`, lose, name));
}

/** What a computer shows, where the request says it. */
function displayOf({ display_width: width, display_height: height, environment }: JsonObject): string {
  if (typeof width !== 'number' || typeof height !== 'number') return '';
  return `Its screen (${typeof environment === 'string' ? environment.slice(0, 64) : 'computer'}) has ${width} by ${height} pixels.`;
}

function isClientRun(type: string): type is keyof typeof CLIENT_RUN {
  return Object.hasOwn(CLIENT_RUN, type);
}

function named(tool: Tool, kind: 'function' | 'custom', namespace: string | undefined): OwnTool {
  if (namespace === undefined) return { tool, kind, name: tool.name };
  return { tool: { ...tool, name: flatName(tool.name, namespace) }, kind, name: tool.name, namespace };
}

function readFunction(tool: JsonObject, param: string, lose: Lose): Tool {
  for (const name in tool) if (!FUNCTION_MEMBERS.has(name) && says(tool[name])) lose(`tools[].${name}`);
  return defined({
    name: nameOf(tool, param),
    description: optionalString(tool, 'description', `${param}.description`),
    parameters: optionalObject(tool, 'parameters', `${param}.parameters`),
    strict: optionalBoolean(tool, 'strict', `${param}.strict`),
  });
}

/** A tool that takes a text: the grammar of the text is told in words. */
function readCustom(tool: JsonObject, param: string, lose: Lose): Tool {
  for (const name in tool) if (!CUSTOM_MEMBERS.has(name) && says(tool[name])) lose(`tools[].${name}`);
  const format = optionalObject(tool, 'format', `${param}.format`) ?? {};
  if (says(format['type']) && format['type'] !== 'text') lose('tools[].format');
  return customTool(nameOf(tool, param), optionalString(tool, 'description', `${param}.description`), format);
}

function nameOf(tool: JsonObject, param: string): string {
  const name = requiredString(tool, 'name', param);
  if (name === '') throw new BadRequestShape(`${param}.name is required`, `${param}.name`);
  return name;
}

const asked = new WeakMap<AnswerContext['request'], ReadonlyMap<string, OwnTool>>();

/** What a call in an answer is to the client: an item of the type that its tool has, less the id. */
export function ownCall({ request }: AnswerContext, call: Omit<ToolCallPart, 'type'>): JsonObject {
  let tools = asked.get(request);
  if (!tools)
    asked.set(request, (tools = new Map(ownTools(request.body, () => {}).map((one) => [one.tool.name, one]))));
  const { kind = 'function', name = call.name, namespace } = tools.get(call.name) ?? {};
  const at = { call_id: call.id, name, ...(namespace !== undefined && { namespace }) };
  if (kind === 'function') return { type: 'function_call', ...at, arguments: call.argumentsJson };
  if (kind === 'custom') return { type: 'custom_tool_call', ...at, input: inputOf(call.argumentsJson) };
  const told = objectIn(call.argumentsJson);
  if (kind === 'computer')
    return computerCall(call.id, { actions: isArray(told['actions']) ? told['actions'] : [told] });
  if (kind === 'computer_use_preview') return computerCall(call.id, { action: told['action'] ?? told });
  if (kind === 'apply_patch') {
    return { type: 'apply_patch_call', call_id: call.id, operation: told['operation'] ?? told };
  }
  const action = kind === 'shell' ? told : { type: 'exec', env: {}, ...told };
  return { type: `${kind}_call`, call_id: call.id, action };
}

/** Nobody has checked it: there is nothing that the client must acknowledge. */
function computerCall(call_id: string, told: JsonObject): JsonObject {
  return { type: 'computer_call', call_id, pending_safety_checks: [], ...told };
}

function objectIn(json: string): JsonObject {
  try {
    const told: unknown = JSON.parse(json);
    return isObject(told) ? told : {};
  } catch {
    return {};
  }
}

/** The tool's name and what it was told, of a call of one of these tools; undefined for any other item. */
export function callOfItem(item: JsonObject): { readonly name: string; readonly argumentsJson: string } | undefined {
  const { type, name, namespace, input, action, actions, operation } = item;
  if (type === 'custom_tool_call' && typeof name === 'string') {
    return { name: flatName(name, namespace), argumentsJson: argumentsOf(input) };
  }
  if (type === 'apply_patch_call')
    return { name: 'apply_patch', argumentsJson: JSON.stringify({ operation: operation ?? {} }) };
  if (type === 'computer_call' && actions !== undefined)
    return { name: 'computer', argumentsJson: JSON.stringify({ actions }) };
  if (type === 'computer_call' && action !== undefined) {
    return { name: 'computer_use_preview', argumentsJson: JSON.stringify({ action }) };
  }
  if (type !== 'shell_call' && type !== 'local_shell_call') return undefined;
  return { name: type.slice(0, -'_call'.length), argumentsJson: JSON.stringify(action ?? {}) };
}

/** The result of such a call, as text or content; undefined for any other item. */
export function outputOfItem({ type, output, status }: JsonObject): Json | undefined {
  if (type === 'custom_tool_call_output') return output ?? '';
  if (type === 'computer_call_output' && isObject(output) && output['type'] === 'computer_screenshot') {
    const { image_url, file_id } = output;
    return [{ type: 'input_image', ...defined({ image_url, file_id, detail: output['detail'] }) }];
  }
  if (type === 'apply_patch_call_output') return typeof output === 'string' && output !== '' ? output : (status ?? '');
  if (type !== 'shell_call_output' && type !== 'local_shell_call_output') return undefined;
  return isArray(output) ? JSON.stringify(output) : (output ?? '');
}
