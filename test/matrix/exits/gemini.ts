import { at, list, pick, text, type Asked, type Body, type Item, type Turn } from '../vocabulary.ts';

const KNOWN = new Set(['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'serviceTier']);

/** A `generateContent` request as Google reads it, which knows no member beside its own. */
export function readGemini(body: Body): Asked {
  for (const name in body) if (!KNOWN.has(name)) throw new TypeError(`a member ${name}`);
  const config = body['generationConfig'];
  const schema = at(config, 'responseJsonSchema') as Body | undefined;
  const isJson = at(config, 'responseMimeType') === 'application/json';
  const ceiling = at(config, 'maxOutputTokens');
  const turns = list(body['contents']).map(readTurn);
  for (const [index, { role }] of turns.entries()) {
    if (role !== (index % 2 === 0 ? 'user' : 'assistant')) throw new TypeError('the turns do not alternate');
  }
  return {
    model: undefined,
    stream: undefined,
    system: list(at(body, 'systemInstruction', 'parts'))
      .map((part) => text(at(part, 'text')))
      .join('\n\n'),
    turns,
    tools: list(body['tools'])
      .flatMap((tool) => list(at(tool, 'functionDeclarations')))
      .map((tool) => ({
        name: text(at(tool, 'name')),
        description: text(at(tool, 'description')),
        schema: at(tool, 'parametersJsonSchema') as Body,
      })),
    format: schema ?? (isJson ? 'object' : undefined),
    stop: list(at(config, 'stopSequences')),
    ceiling: ceiling === undefined ? undefined : ['maxOutputTokens', ceiling],
    reasoning: (at(config, 'thinkingConfig') as Body | undefined) ?? pick(body, []),
  };
}

function readTurn(content: unknown): Turn {
  const role = at(content, 'role');
  if (role !== 'user' && role !== 'model') throw new TypeError(`content of role ${String(role)}`);
  return { role: role === 'user' ? 'user' : 'assistant', items: list(at(content, 'parts')).map(readPart) };
}

function readPart(part: unknown): Item {
  const call = at(part, 'functionCall');
  const response = at(part, 'functionResponse');
  const media = at(part, 'inlineData');
  if (call !== undefined) {
    return { call: { id: text(at(call, 'id')), name: text(at(call, 'name')), input: at(call, 'args') } };
  }
  if (response !== undefined) {
    if (text(at(response, 'name')) === '') throw new TypeError('a result without the name of its tool');
    const failed = at(response, 'response', 'error') !== undefined;
    const said = at(response, 'response', failed ? 'error' : 'output');
    return { result: { id: text(at(response, 'id')), text: text(said), failed } };
  }
  if (media !== undefined) {
    const type = text(at(media, 'mimeType'));
    const whole = `${type};${text(at(media, 'data'))}`;
    return type.startsWith('image/') ? { image: whole } : { document: whole };
  }
  const said = at(part, 'text');
  if (typeof said !== 'string') throw new TypeError(`a part with ${Object.keys(part as object).join(', ')}`);
  return at(part, 'thought') === true ? { thought: said } : { text: said };
}
