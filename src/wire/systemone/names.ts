import { BadRequestShape } from '../hub/codec.ts';
import { readDocument, render, setString, type Edit, type WireDocument } from '../document/document.ts';
import { member, valueOf, type JsonNode, type Member, type StringNode } from '../document/scan.ts';
import { withoutKept } from './questions.ts';

/**
 * Questions and options have names that answers are told by. Data protection rewrites them like any text, so that a provider
 * sees no others; the client is answered in its own words, whatever stood in their place. // spec 4.4.8
 */

/** A name as the client wrote it, and as it was sent. */
interface Name {
  readonly asked: string;
  readonly sent: string;
}

interface NamedQuestion {
  readonly name: Name;
  readonly options: readonly Name[];
}

/**
 * The edits of data protection, such that no object has two members of one name: the second is numbered. Throws
 * `BadRequestShape` where two options of a question have become one for who reads them. // spec 4.4.5
 */
export function tellApart(document: WireDocument, edits: readonly Edit[]): readonly Edit[] {
  const sent = readDocument(document.family, render(document.text, edits), { lenient: true });
  for (const { options } of namedQuestions(document, sent)) refuseAlike(options);
  const numbered = [...numberAlike(document.root, sent.root)];
  const places = new Set(numbered.map(({ start }) => start));
  return [...edits.filter(({ start }) => !places.has(start)), ...numbered];
}

/** Edits that give an answer the client's names. `sent`: the request as the provider got it. */
export function ownNames(answer: WireDocument, request: WireDocument, sent: string): readonly Edit[] {
  if (!member(request.root, 'questions')) return [];
  const questions = namedQuestions(request, readDocument(request.family, sent, { lenient: true }));
  const byName = new Map(questions.map((question) => [question.name.sent, question]));
  return membersOf(member(answer.root, 'answers')).flatMap(({ key, value }) => {
    const question = byName.get(key.value);
    if (!question) return [];
    const options = new Map(question.options.map(({ asked, sent: name }) => [name, asked]));
    const names = optionNames(value).map((node) => setString(node, options.get(node.value) ?? node.value));
    return [setString(key, question.name.asked), ...names];
  });
}

/** The strings of an answer that are names of questions or options, not words of whoever answers. */
export function namesIn(answer: WireDocument): readonly StringNode[] {
  return membersOf(member(answer.root, 'answers')).flatMap(({ key, value }) => [key, ...optionNames(value)]);
}

/** Where an answer names options: that of a choice and each with its probability; levels in the legend of a score. // spec 2.6 */
function optionNames(answer: JsonNode): readonly StringNode[] {
  const choice = member(answer, 'choice');
  const probabilities = choice ? membersOf(member(answer, 'probabilities')) : [];
  const levels = membersOf(member(answer, 'legend')).map(({ value }) => value);
  const others = [choice, ...levels].filter((node) => node?.kind === 'string');
  return [...others, ...probabilities.map(({ key }) => key)];
}

/** Questions by their place: rewriting replaces texts and moves nothing. */
function namedQuestions(asked: WireDocument, sent: WireDocument): readonly NamedQuestion[] {
  const rewritten = membersOf(member(sent.root, 'questions'));
  return membersOf(member(asked.root, 'questions')).map(({ key, value }, at) => {
    const options = optionsOf(rewritten[at]?.value);
    return {
      name: { asked: key.value, sent: rewritten[at]?.key.value ?? key.value },
      options: optionsOf(value).map((option, index) => ({ asked: option, sent: options[index] ?? option })),
    };
  });
}

/** Options or levels of a question, as readers of `criteria` take them. */
function optionsOf(question: JsonNode | undefined): readonly string[] {
  const criteria = member(question, 'criteria');
  const nodes = criteria?.kind === 'array' ? criteria.items : membersOf(criteria).map(({ key }) => key);
  return nodes.map((node) => (node.kind === 'string' ? node.value : JSON.stringify(valueOf(node))));
}

function refuseAlike(options: readonly Name[]): void {
  const seen = new Map<string, string>();
  for (const { asked, sent } of options) {
    const [read, meant] = [withoutKept(sent), withoutKept(asked)];
    if ((seen.get(read) ?? meant) !== meant) {
      const message = 'The options of a question must stay different after data protection rewrites them';
      throw new BadRequestShape(message, 'questions');
    }
    seen.set(read, meant);
  }
}

/** Edits that number what would be named twice in one object. */
function* numberAlike(asked: JsonNode, sent: JsonNode): Generator<Edit> {
  if (asked.kind === 'array' && sent.kind === 'array') {
    for (const [at, item] of asked.items.entries()) yield* numberAlike(item, sent.items[at] ?? item);
  }
  if (asked.kind !== 'object' || sent.kind !== 'object') return;
  const names = new Set(sent.members.map(({ key }) => key.value));
  const isTold = names.size < sent.members.length;
  const seen = new Set<string>();
  for (const [at, { key, value }] of asked.members.entries()) {
    const rewritten = sent.members[at];
    if (!rewritten) return;
    const name = rewritten.key.value;
    if (isTold && seen.has(name)) {
      let number = 2;
      while (names.has(`${name} ${number}`)) number++;
      names.add(`${name} ${number}`);
      yield setString(key, `${name} ${number}`);
    }
    seen.add(name);
    yield* numberAlike(value, rewritten.value);
  }
}

function membersOf(node: JsonNode | undefined): readonly Member[] {
  return node?.kind === 'object' ? node.members : [];
}
