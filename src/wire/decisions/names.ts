import { BadRequestShape } from '../hub/codec.ts';
import { readDocument, render, setString, type Edit, type WireDocument } from '../document/document.ts';
import { member, type JsonNode, type StringNode } from '../document/scan.ts';

/**
 * Questions, choices and levels have names that answers tell again. Data protection rewrites them like any text; the client
 * is answered in its own words, by the place of the question. // spec 4.4.8
 */

/** The edits as they are. Throws `BadRequestShape` where two choices of a question have become one. */
export function tellApart(document: WireDocument, edits: readonly Edit[]): readonly Edit[] {
  if (edits.length === 0) return edits;
  const sent = readDocument(document.family, render(document.text, edits), { lenient: true });
  const asked = questionsOf(document);
  questionsOf(sent).forEach((question, at) => {
    const meant = valuesIn(asked[at], 'choices', 'value');
    const seen = new Map<string, string>();
    for (const [index, { value }] of valuesIn(question, 'choices', 'value').entries()) {
      const own = meant[index]?.value ?? value;
      if ((seen.get(value) ?? own) !== own) {
        const message = 'The choices of a question must stay different after data protection rewrites them';
        throw new BadRequestShape(message, `questions[${at}].choices`);
      }
      seen.set(value, own);
    }
  });
  return edits;
}

/** Edits that give an answer the client's names. `sent`: the request as the provider got it. */
export function ownNames(answer: WireDocument, request: WireDocument, sent: string): readonly Edit[] {
  const asked = questionsOf(request);
  const rewritten = questionsOf(readDocument(request.family, sent, { lenient: true }));
  return itemsOf(member(answer.root, 'answers')).flatMap((one, at) => {
    const [mine, theirs] = [asked[at], rewritten[at]];
    const name = [textAt(one, 'name'), textAt(mine, 'name')] as const;
    const values = new Map(valuesIn(theirs, 'choices', 'value').map((node, index) => [node.value, index]));
    const own = valuesIn(mine, 'choices', 'value');
    const labels = valuesIn(mine, 'levels', 'label');
    const told = itemsOf(member(one, 'probabilities'));
    return [
      name,
      ...[textAt(one, 'choice'), ...told.map((item) => textAt(item, 'value'))].map((node) => {
        return [node, own[values.get(node?.value ?? '') ?? -1]] as const;
      }),
      ...told.map((item, index) => [textAt(item, 'label'), labels[index]] as const),
    ].flatMap(([node, word]) => (node && word && node.value !== word.value ? [setString(node, word.value)] : []));
  });
}

/** Strings of an answer that are names of questions, choices or levels, not generated text. */
export function namesIn(answer: WireDocument): readonly StringNode[] {
  return itemsOf(member(answer.root, 'answers')).flatMap((one) => {
    const told = itemsOf(member(one, 'probabilities'));
    const nodes = [
      textAt(one, 'type'),
      textAt(one, 'name'),
      textAt(one, 'choice'),
      ...told.flatMap((item) => [textAt(item, 'value'), textAt(item, 'label')]),
    ];
    return nodes.filter((node) => node !== undefined);
  });
}

function questionsOf(document: WireDocument): readonly JsonNode[] {
  return itemsOf(member(document.root, 'questions'));
}

/** Texts that name options; other values are skipped. */
function valuesIn(question: JsonNode | undefined, list: string, name: string): readonly StringNode[] {
  return itemsOf(member(question, list))
    .map((item) => textAt(item, name))
    .filter((node) => node !== undefined);
}

function textAt(node: JsonNode | undefined, name: string): StringNode | undefined {
  const found = member(node, name);
  return found?.kind === 'string' ? found : undefined;
}

function itemsOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === 'array' ? node.items : [];
}
