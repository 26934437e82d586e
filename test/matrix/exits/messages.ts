import { at, list, pick, text, type Asked, type Body, type Item, type Turn } from '../vocabulary.ts';

/** A messages request as Claude's hosts read it. Throws where turns do not take turns or hold what they must not. */
export function readMessages(body: Body): Asked {
  const system = body['system'];
  const turns = list(body['messages']).map(readTurn);
  for (const [index, { role }] of turns.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) throw new TypeError('the turns do not alternate');
  }
  return {
    model: body['model'],
    stream: body['stream'],
    system:
      typeof system === 'string'
        ? system
        : list(system)
            .map((block) => text(at(block, 'text')))
            .join('\n\n'),
    turns,
    tools: list(body['tools']).map((tool) => ({
      name: text(at(tool, 'name')),
      description: text(at(tool, 'description')),
      schema: at(tool, 'input_schema') as Body,
    })),
    format: at(body, 'output_config', 'format', 'schema') as Body | undefined,
    stop: list(body['stop_sequences']),
    ceiling: ['max_tokens', body['max_tokens']],
    reasoning: { ...pick(body, ['thinking']), ...pick(body['output_config'], ['effort']) },
  };
}

function readTurn(message: unknown): Turn {
  const role = at(message, 'role');
  const content = at(message, 'content');
  if (role !== 'user' && role !== 'assistant') throw new TypeError(`a message of role ${String(role)}`);
  const items = typeof content === 'string' ? [{ text: content }] : list(content).map(readBlock);
  const others = items.findIndex((item) => !('result' in item));
  if (others >= 0 && items.slice(others).some((item) => 'result' in item)) throw new TypeError('results come first');
  return { role, items };
}

function readBlock(block: unknown): Item {
  switch (at(block, 'type')) {
    case 'text':
      return { text: text(at(block, 'text')) };
    case 'thinking':
      return { thought: text(at(block, 'thinking')) };
    case 'image':
      return { image: readSource(block) };
    case 'document':
      return { document: readSource(block) };
    case 'tool_use':
      return { call: { id: text(at(block, 'id')), name: text(at(block, 'name')), input: at(block, 'input') } };
    case 'tool_result': {
      const content = at(block, 'content');
      const texts =
        typeof content === 'string'
          ? content
          : list(content)
              .map((part) => text(at(part, 'text')))
              .join('');
      return {
        result: { id: text(at(block, 'tool_use_id')), text: texts, failed: at(block, 'is_error') === true },
      };
    }
    default:
      throw new TypeError(`a block of type ${String(at(block, 'type'))}`);
  }
}

function readSource(block: unknown): string {
  if (at(block, 'source', 'type') !== 'base64') throw new TypeError('a source that is not base64');
  return `${text(at(block, 'source', 'media_type'))};${text(at(block, 'source', 'data'))}`;
}
