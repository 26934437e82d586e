import Anthropic from '@anthropic-ai/sdk';
import AnthropicPrevious from 'anthropic-previous';
import { MAIL_TOOL, type Client, type Connection, type MailArguments } from './client.ts';

type Package = readonly [name: string, sdk: typeof Anthropic];

/** The official package and the one before its first major: what is used here is the same in both. */
export const ANTHROPIC_PACKAGES: readonly [Package, ...Package[]] = [
  ['@anthropic-ai/sdk', Anthropic],
  ['@anthropic-ai/sdk (previous)', AnthropicPrevious as unknown as typeof Anthropic],
];

/** The official client at one of the two addresses, without retries. */
export function anthropicClient(Sdk: typeof Anthropic, { url, key }: Connection, below = ''): Anthropic {
  return new Sdk({ apiKey: key, baseURL: `${url}${below}`, maxRetries: 0 });
}

/** `@anthropic-ai/sdk`: its stream helper and its tool runner. */
export function anthropicMessages(name: string, Sdk: typeof Anthropic, connection: Connection): Client {
  const client = anthropicClient(Sdk, connection);
  return {
    name: `${name} messages`,
    async stream(model, prompt) {
      const stream = client.messages.stream({ model, max_tokens: 256, messages: [{ role: 'user', content: prompt }] });
      let deltas = '';
      stream.on('text', (delta) => (deltas += delta));
      const { content } = await stream.finalMessage();
      const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      if (deltas !== text) throw new Error(`the deltas are not the text: ${deltas}`);
      return text;
    },
    async toolLoop(model, prompt, mail) {
      const runner = client.beta.messages.toolRunner({
        model,
        max_tokens: 256,
        stream: true,
        messages: [{ role: 'user', content: prompt }],
        tools: [
          {
            type: 'custom',
            name: MAIL_TOOL.name,
            description: MAIL_TOOL.description,
            input_schema: { ...MAIL_TOOL.schema, required: [...MAIL_TOOL.schema.required] },
            parse: (input: unknown) => input as MailArguments,
            run: (args: MailArguments) => mail(args),
          },
        ],
      });
      let text = '';
      for await (const stream of runner) {
        const { content } = await stream.finalMessage();
        text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      }
      return text;
    },
  };
}
