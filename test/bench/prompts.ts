const sentence = 'We look at the numbers of the third quarter and decide together what the next step should be. ';
const personal = 'Write to ada.lovelace@example.com or call +49 30 901820 about it. ';

/** A chat request whose user says so many bytes, with an address and a number in it. */
export function prompt(bytes: number, more: object = {}): string {
  const text = personal + sentence.repeat(Math.ceil(bytes / sentence.length));
  const messages = [
    { role: 'system', content: 'You are a careful assistant.' },
    { role: 'user', content: text.slice(0, bytes) },
  ];
  return JSON.stringify({ model: 'upstream/static', messages, max_tokens: 256, ...more });
}

const words = sentence.toLowerCase().split(/[ .]+/).filter(Boolean);

/** So many bytes of text in which nothing repeats itself at length. `seed`: another one, another text. */
export function prose(bytes: number, seed: number): string {
  let state = seed;
  let text = '';
  while (text.length < bytes) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // Sentences without a number in them: nothing is found where nothing was put.
    text += `${words[(state >>> 16) % words.length]}${state % 7 === 0 ? '. ' : ' '}`;
  }
  return text.slice(0, bytes);
}
