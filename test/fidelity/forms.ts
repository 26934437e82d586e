import { json } from '../harness/answers.ts';

export function form(parts: readonly (readonly [string, string | Blob])[]): FormData {
  const data = new FormData();
  for (const [name, value] of parts) {
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, value, 'speech.wav');
  }
  return data;
}

export const sound = (size = 1000): Blob => new Blob(['RIFF'.repeat(size / 4)], { type: 'audio/wav' });

export const transcript = json({
  text: 'hello',
  usage: { type: 'tokens', input_tokens: 10, output_tokens: 5, total_tokens: 15 },
});
