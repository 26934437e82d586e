import { at, list, merged, ofDataUrl, pick, text, type Asked, type Body, type Item, type Turn } from '../vocabulary.ts';

const INSTRUCTIONS = ['system', 'developer'];

/** A chat request as its vendors read it. Throws on what it should not hold. */
export function readChat(body: Body): Asked {
  const messages = list(body['messages']);
  const first = messages.findIndex((message) => !INSTRUCTIONS.includes(text(at(message, 'role'))));
  const leading = messages.slice(0, first);
  const [systemRole] = leading.map((message) => at(message, 'role'));
  const ceilings = (['max_tokens', 'max_completion_tokens'] as const).filter((name) => body[name] !== undefined);
  if (ceilings.length > 1) throw new TypeError('two ceilings');
  const [ceiling] = ceilings;
  return {
    model: body['model'],
    stream: body['stream'],
    systemRole,
    system: leading.map((message) => textOf(at(message, 'content'))).join('\n\n'),
    turns: merged(messages.slice(first).map(readMessage)),
    tools: list(body['tools']).map((tool) => ({
      name: text(at(tool, 'function', 'name')),
      description: text(at(tool, 'function', 'description')),
      schema: at(tool, 'function', 'parameters') as Body,
    })),
    format: readFormat(body['response_format']),
    stop: list(body['stop']),
    ceiling: ceiling && [ceiling, body[ceiling]],
    reasoning: pick(body, ['reasoning_effort', 'reasoning', 'thinking', 'prompt_mode', 'reasoning_format']),
  };
}

function readMessage(message: unknown): Turn {
  const role = at(message, 'role');
  const content = at(message, 'content');
  if (role === 'tool') {
    const result = { id: text(at(message, 'tool_call_id')), text: textOf(content), failed: false };
    return { role: 'user', items: [{ result }] };
  }
  if (role !== 'user' && role !== 'assistant') throw new TypeError(`a message of role ${String(role)}`);
  const said: Item[] = typeof content === 'string' ? [{ text: content }] : list(content).map(readPart);
  const calls = list(at(message, 'tool_calls')).map((call): Item => {
    const input: unknown = JSON.parse(text(at(call, 'function', 'arguments')));
    return { call: { id: text(at(call, 'id')), name: text(at(call, 'function', 'name')), input } };
  });
  // DeepSeek wants to be told that there was none.
  const thought = at(message, 'reasoning_content') ?? at(message, 'reasoning') ?? '';
  return { role, items: [...(thought === '' ? [] : [{ thought: text(thought) }]), ...said, ...calls] };
}

function readPart(part: unknown): Item {
  switch (at(part, 'type')) {
    case 'text':
      return { text: text(at(part, 'text')) };
    case 'image_url':
      return { image: ofDataUrl(at(part, 'image_url', 'url')) };
    case 'file':
      return { document: ofDataUrl(at(part, 'file', 'file_data')) };
    default:
      throw new TypeError(`a part of type ${String(at(part, 'type'))}`);
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => text(at(part, 'text')))
    .join('\n\n');
}

function readFormat(format: unknown): Asked['format'] {
  if (format === undefined) return undefined;
  if (at(format, 'type') === 'json_object') return 'object';
  return at(format, 'json_schema', 'schema') as Body;
}
