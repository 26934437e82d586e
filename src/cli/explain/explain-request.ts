export const SURFACES = ['chat', 'messages', 'responses'] as const;
export const FEATURES = ['tools', 'images', 'json'] as const;
export type SurfaceName = (typeof SURFACES)[number];
export type Feature = (typeof FEATURES)[number];

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==';
const SCHEMA = { type: 'object', properties: {}, additionalProperties: false };

/** The smallest request of a surface that has certain features. */
export function requestLike(surface: SurfaceName, model: string, features: readonly Feature[]): object {
  const has = (feature: Feature): boolean => features.includes(feature);
  switch (surface) {
    case 'chat':
      return chatLike(model, has);
    case 'messages':
      return messagesLike(model, has);
    case 'responses':
      return responsesLike(model, has);
    default:
      return surface satisfies never;
  }
}

type Has = (feature: Feature) => boolean;

function chatLike(model: string, has: Has): object {
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } };
  return {
    model,
    messages: [{ role: 'user', content: has('images') ? [{ type: 'text', text: 'Hello' }, image] : 'Hello' }],
    ...(has('tools') && { tools: [{ type: 'function', function: { name: 'look_up', parameters: SCHEMA } }] }),
    ...(has('json') && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } },
    }),
  };
}

function messagesLike(model: string, has: Has): object {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } };
  return {
    model,
    max_tokens: 1024,
    messages: [{ role: 'user', content: has('images') ? [{ type: 'text', text: 'Hello' }, image] : 'Hello' }],
    ...(has('tools') && { tools: [{ name: 'look_up', input_schema: SCHEMA }] }),
    ...(has('json') && { output_config: { format: { type: 'json_schema', schema: SCHEMA } } }),
  };
}

function responsesLike(model: string, has: Has): object {
  const image = { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` };
  const content = [{ type: 'input_text', text: 'Hello' }, ...(has('images') ? [image] : [])];
  return {
    model,
    input: [{ role: 'user', content }],
    ...(has('tools') && { tools: [{ type: 'function', name: 'look_up', parameters: SCHEMA }] }),
    ...(has('json') && { text: { format: { type: 'json_schema', name: 'answer', schema: SCHEMA } } }),
  };
}
