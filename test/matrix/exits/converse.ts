import { at, list, text, type Asked, type Body, type Item, type Turn } from '../vocabulary.ts';

const KNOWN = new Set([
  ...['messages', 'system', 'inferenceConfig', 'toolConfig', 'outputConfig', 'additionalModelRequestFields'],
  ...['additionalModelResponseFieldPaths', 'requestMetadata', 'serviceTier'],
]);
const MEDIA: Readonly<Record<string, string>> = { png: 'image/png', pdf: 'application/pdf' };

/** A Converse request as Bedrock reads it, which knows no member beside its own. */
export function readConverse(body: Body): Asked {
  for (const name in body) if (!KNOWN.has(name)) throw new TypeError(`a member ${name}`);
  const config = body['inferenceConfig'];
  const ceiling = at(config, 'maxTokens');
  const turns = list(body['messages']).map(readTurn);
  for (const [index, { role }] of turns.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) throw new TypeError('the turns do not alternate');
  }
  const schema = at(body, 'outputConfig', 'textFormat', 'structure', 'jsonSchema', 'schema');
  return {
    model: undefined,
    stream: undefined,
    system: list(body['system'])
      .map((block) => text(at(block, 'text')))
      .join('\n\n'),
    turns,
    tools: list(at(body, 'toolConfig', 'tools')).map((tool) => ({
      name: text(at(tool, 'toolSpec', 'name')),
      description: text(at(tool, 'toolSpec', 'description')),
      schema: at(tool, 'toolSpec', 'inputSchema', 'json') as Body,
    })),
    format: typeof schema === 'string' ? (JSON.parse(schema) as Body) : undefined,
    stop: list(at(config, 'stopSequences')),
    ceiling: ceiling === undefined ? undefined : ['maxTokens', ceiling],
    reasoning: (body['additionalModelRequestFields'] as Body | undefined) ?? {},
  };
}

function readTurn(message: unknown): Turn {
  const role = at(message, 'role');
  if (role !== 'user' && role !== 'assistant') throw new TypeError(`a message of role ${String(role)}`);
  const blocks = list(at(message, 'content'));
  const hasDocument = blocks.some((block) => at(block, 'document') !== undefined);
  if (hasDocument && !blocks.some((block) => text(at(block, 'text')) !== '')) {
    throw new TypeError('a document without a text beside it');
  }
  return { role, items: blocks.map(readBlock) };
}

function readBlock(block: unknown): Item {
  const [kind] = Object.keys(block as object);
  const value = at(block, kind ?? '');
  switch (kind) {
    case 'text':
      return { text: text(value) };
    case 'reasoningContent':
      return { thought: text(at(value, 'reasoningText', 'text')) };
    case 'image':
      return { image: readMedia(value) };
    case 'document':
      if (!/^[A-Za-z0-9 ()[\]-]+$/.test(text(at(value, 'name')))) throw new TypeError('a name Bedrock refuses');
      return { document: readMedia(value) };
    case 'toolUse':
      return { call: { id: text(at(value, 'toolUseId')), name: text(at(value, 'name')), input: at(value, 'input') } };
    case 'toolResult': {
      const texts = list(at(value, 'content')).map((part) => text(at(part, 'text')));
      return {
        result: { id: text(at(value, 'toolUseId')), text: texts.join(''), failed: at(value, 'status') === 'error' },
      };
    }
    default:
      throw new TypeError(`a block of kind ${String(kind)}`);
  }
}

function readMedia(value: unknown): string {
  return `${MEDIA[text(at(value, 'format'))] ?? 'unknown'};${text(at(value, 'source', 'bytes'))}`;
}
