import type { PipelineEvent } from '#/pipeline/pipeline-event.ts';

type Kind = PipelineEvent['kind'];

/** The member of the union that has this kind, be it one of several. */
type EventOf<K extends Kind, E extends PipelineEvent = PipelineEvent> = E extends { readonly kind: infer Kinds }
  ? K extends Kinds
    ? E & { readonly kind: K }
    : never
  : never;

/** One function for each of these kinds of events. */
export type Handlers<K extends Kind> = { readonly [One in K]: (event: EventOf<One>) => void };

/** One function for every kind of event: a kind without a handler does not compile. */
export function dispatcher(handlers: Handlers<Kind>): (event: PipelineEvent) => void {
  const byKind = handlers as Readonly<Record<Kind, (event: PipelineEvent) => void>>;
  return (event) => byKind[event.kind](event);
}
