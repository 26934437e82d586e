import OpenAI from 'openai';
import OpenAIPrevious from 'openai-previous';
import { MAIL_TOOL, MOST_TURNS, type Client, type Connection, type MailArguments } from './client.ts';

/** The official package and the major before it: what is used here is the same in both. */
export const OPENAI_PACKAGES: readonly (readonly [name: string, sdk: typeof OpenAI])[] = [
  ['openai', OpenAI],
  ['openai (previous major)', OpenAIPrevious as unknown as typeof OpenAI],
];

/** The official client, without retries: a failure is to be seen. */
export function openaiClient(Sdk: typeof OpenAI, { url, key }: Connection): OpenAI {
  return new Sdk({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
}

/** `openai` on chat completions: its stream helper and its tool runner. */
export function openaiChat(name: string, Sdk: typeof OpenAI, connection: Connection): Client {
  const client = openaiClient(Sdk, connection);
  return {
    name: `${name} chat`,
    async stream(model, prompt) {
      const stream = client.chat.completions.stream({ model, messages: [{ role: 'user', content: prompt }] });
      let deltas = '';
      stream.on('content', (delta) => (deltas += delta));
      const text = (await stream.finalChatCompletion()).choices[0]?.message.content ?? '';
      if (deltas !== text) throw new Error(`the deltas are not the text: ${deltas}`);
      return text;
    },
    async toolLoop(model, prompt, mail) {
      const runner = client.chat.completions.runTools({
        model,
        stream: true,
        messages: [{ role: 'user', content: prompt }],
        tools: [
          {
            type: 'function',
            function: {
              name: MAIL_TOOL.name,
              description: MAIL_TOOL.description,
              parameters: { ...MAIL_TOOL.schema, required: [...MAIL_TOOL.schema.required] },
              parse: (text: string) => JSON.parse(text) as MailArguments,
              function: (args: MailArguments) => mail(args),
            },
          },
        ],
      });
      return (await runner.finalContent()) ?? '';
    },
  };
}

/** `openai` on the responses API: its stream helper, and a loop over function calls. */
export function openaiResponses(name: string, Sdk: typeof OpenAI, connection: Connection): Client {
  const client = openaiClient(Sdk, connection);
  return {
    name: `${name} responses`,
    async stream(model, prompt) {
      const stream = client.responses.stream({ model, input: prompt });
      let deltas = '';
      stream.on('response.output_text.delta', ({ delta }) => (deltas += delta));
      const { output_text: text } = await stream.finalResponse();
      if (deltas !== text) throw new Error(`the deltas are not the text: ${deltas}`);
      return text;
    },
    async toolLoop(model, prompt, mail) {
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: prompt }];
      for (let turn = 0; turn < MOST_TURNS; turn++) {
        const answer = await client.responses.stream({ model, input, tools: [RESPONSES_TOOL] }).finalResponse();
        const calls = answer.output.filter((item) => item.type === 'function_call');
        if (calls.length === 0) return answer.output_text;
        // What the SDK parsed beside the wire's members stays behind.
        for (const { call_id, name: tool, arguments: args } of calls) {
          input.push({ type: 'function_call', call_id, name: tool, arguments: args });
          input.push({ type: 'function_call_output', call_id, output: mail(JSON.parse(args) as MailArguments) });
        }
      }
      throw new Error('the model never stopped calling the tool');
    },
  };
}

const RESPONSES_TOOL: OpenAI.Responses.FunctionTool = {
  type: 'function',
  name: MAIL_TOOL.name,
  description: MAIL_TOOL.description,
  parameters: { ...MAIL_TOOL.schema },
  strict: true,
};
