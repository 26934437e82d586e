import type { Finish, ModelAnswer, Part, Proof, StreamEvent } from './canonical.ts';
import type { Usage } from '../answer/usage.ts';

/** What a stream has said, put together: a whole answer once it has a finish. */
export type CollectedAnswer = Omit<ModelAnswer, 'finish'> & { readonly finish?: Finish };

interface Growing {
  readonly part: Part;
  readonly more: string[];
  proof?: Proof;
}

/** Puts the events of a stream together, for families whose whole answer is a stream of one chunk. */
export function collectAnswer(events: readonly StreamEvent[]): CollectedAnswer {
  const growing = new Map<number, Growing>();
  let id: string | undefined;
  let usage: Usage | undefined;
  let finish: Finish | undefined;
  for (const event of events) {
    if (event.type === 'start') id = event.id;
    if (event.type === 'start' || event.type === 'usage') usage = event.usage ?? usage;
    if (event.type === 'finish') finish = event.finish;
    if (event.type === 'part-start') growing.set(event.index, { part: event.part, more: [] });
    if (event.type === 'part-delta') growing.get(event.index)?.more.push(event.text);
    if (event.type === 'part-proof') {
      const part = growing.get(event.index);
      if (part) part.proof = event.proof;
    }
  }
  return {
    ...(id === undefined ? {} : { id }),
    parts: [...growing.values()].map(grown),
    ...(finish === undefined ? {} : { finish }),
    ...(usage === undefined ? {} : { usage }),
  };
}

function grown({ part, more, proof }: Growing): Part {
  const text = more.join('');
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { ...part, text: part.text + text };
    case 'reasoning':
      return { ...part, text: part.text + text, ...(proof === undefined ? {} : { proof }) };
    case 'tool-call':
      return { ...part, argumentsJson: part.argumentsJson + text, ...(proof === undefined ? {} : { proof }) };
    default:
      return part;
  }
}
