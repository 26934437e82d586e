import type { ExitFamily } from '../exits/read-asked.ts';
import type { Kind } from '../kinds/kind.ts';
import { at, type Body } from '../vocabulary.ts';
import type { Frame } from './framing.ts';
import { rewrite } from './rewrite.ts';

/** Tells its filters' verdict on the prompt before the answer, in a chunk without choices. // wire-formats 4.1 */
const VERDICT: Frame = {
  data: {
    id: '',
    object: 'chat.completion.chunk',
    created: 0,
    model: '',
    choices: [],
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: { hate: { filtered: false } } }],
  },
};

const PING: Frame = { event: 'ping', data: { type: 'ping' } };

/** What some vendors do that others do not, in a body or the data of an event. */
export function habitsOf(data: unknown, { name, callsHaveNoIds }: Kind, family: ExitFamily): unknown {
  if (typeof data === 'string') return data;
  if (callsHaveNoIds) return rewrite(data, withoutCallId);
  return name === 'mistral' && family === 'chat' ? rewrite(data, withThoughtsAsContent) : data;
}

/** The same for a stream. */
export function habitsOfStream(frames: readonly Frame[], kind: Kind, family: ExitFamily): readonly Frame[] {
  const usual = frames.map((frame): Frame => ({ ...frame, data: habitsOf(frame.data, kind, family) }));
  if (family === 'chat' && kind.name.startsWith('azure')) return [VERDICT, ...usual];
  if (family !== 'messages') return usual;
  const first = usual.findIndex(({ data }) => at(data, 'type') === 'content_block_start');
  return usual.toSpliced(first + 1, 0, PING);
}

function withoutCallId(object: Body): Body {
  const call = object['functionCall'];
  if (call === undefined) return object;
  return { ...object, functionCall: { name: at(call, 'name'), args: at(call, 'args') } };
}

/** Thoughts are a part of the content there, which is a list then. // wire-formats 3.3 */
function withThoughtsAsContent(object: Body): Body {
  const { reasoning_content: thoughts, content, ...rest } = object;
  if (typeof thoughts !== 'string') return object;
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: thoughts }] };
  return { ...rest, content: typeof content === 'string' ? [thinking, { type: 'text', text: content }] : [thinking] };
}
