import { at, list, merged, ofDataUrl, pick, text, type Asked, type Body, type Item, type Turn } from '../vocabulary.ts';

/** A responses request as its vendors read it. */
export function readResponses(body: Body): Asked {
  const items = list(body['input']);
  const isInstruction = (item: unknown): boolean => ['system', 'developer'].includes(text(at(item, 'role')));
  const told = items.filter(isInstruction).map((item) => textOf(at(item, 'content')));
  const format = at(body, 'text', 'format');
  return {
    model: body['model'],
    stream: body['stream'],
    system: [text(body['instructions']), ...told].filter((one) => one !== '').join('\n\n'),
    turns: merged(items.filter((item) => !isInstruction(item)).map(readItem)),
    tools: list(body['tools']).map((tool) => ({
      name: text(at(tool, 'name')),
      description: text(at(tool, 'description')),
      schema: at(tool, 'parameters') as Body,
    })),
    format: at(format, 'type') === 'json_object' ? 'object' : (at(format, 'schema') as Body | undefined),
    stop: list(body['stop']),
    ceiling: body['max_output_tokens'] === undefined ? undefined : ['max_output_tokens', body['max_output_tokens']],
    reasoning: pick(body['reasoning'], ['effort']),
  };
}

function readItem(item: unknown): Turn {
  const type = at(item, 'type') ?? 'message';
  if (type === 'function_call') {
    const input: unknown = JSON.parse(text(at(item, 'arguments')));
    return {
      role: 'assistant',
      items: [{ call: { id: text(at(item, 'call_id')), name: text(at(item, 'name')), input } }],
    };
  }
  if (type === 'function_call_output') {
    const result = { id: text(at(item, 'call_id')), text: textOf(at(item, 'output')), failed: false };
    return { role: 'user', items: [{ result }] };
  }
  if (type === 'reasoning') {
    return { role: 'assistant', items: [{ thought: text(at(item, 'summary', 0, 'text')) }] };
  }
  const role = at(item, 'role');
  if (type !== 'message' || (role !== 'user' && role !== 'assistant'))
    throw new TypeError('an item that is no message');
  const content = at(item, 'content');
  return { role, items: typeof content === 'string' ? [{ text: content }] : list(content).map(readContent) };
}

function readContent(part: unknown): Item {
  switch (at(part, 'type')) {
    case 'input_text':
    case 'output_text':
      return { text: text(at(part, 'text')) };
    case 'input_image':
      return { image: ofDataUrl(at(part, 'image_url')) };
    case 'input_file':
      return { document: ofDataUrl(at(part, 'file_data')) };
    default:
      throw new TypeError(`content of type ${String(at(part, 'type'))}`);
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => text(at(part, 'text')))
    .join('');
}
