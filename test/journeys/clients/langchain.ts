import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { MAIL_TOOL, MOST_TURNS, type Client, type Connection, type MailArguments } from './client.ts';

/** LangChain with its packages for both vendors: `stream`, and a loop over `tool_calls`. */
export function langchainClients({ url, key }: Connection): readonly Client[] {
  const openai = (model: string, useResponsesApi: boolean): BaseChatModel =>
    new ChatOpenAI({ model, apiKey: key, maxRetries: 0, useResponsesApi, configuration: { baseURL: `${url}/v1` } });
  const anthropic = (model: string): BaseChatModel =>
    new ChatAnthropic({ model, apiKey: key, maxRetries: 0, maxTokens: 256, anthropicApiUrl: url });
  return [
    langchain('@langchain/openai chat', (model) => openai(model, false)),
    langchain('@langchain/openai responses', (model) => openai(model, true)),
    langchain('@langchain/anthropic', anthropic),
  ];
}

function langchain(name: string, chatModel: (model: string) => BaseChatModel): Client {
  return {
    name,
    async stream(model, prompt) {
      return (await gathered(await chatModel(model).stream([new HumanMessage(prompt)]))).text;
    },
    async toolLoop(model, prompt, mail) {
      const mailTool = tool((args) => mail(args as MailArguments), {
        name: MAIL_TOOL.name,
        description: MAIL_TOOL.description,
        schema: { ...MAIL_TOOL.schema, required: [...MAIL_TOOL.schema.required] },
      });
      const bound = chatModel(model).bindTools?.([mailTool]);
      if (!bound) throw new Error('this model takes no tools');
      const messages: BaseMessage[] = [new HumanMessage(prompt)];
      for (let turn = 0; turn < MOST_TURNS; turn++) {
        const answer = await gathered(await bound.stream(messages));
        const calls = answer.tool_calls ?? [];
        if (calls.length === 0) return answer.text;
        messages.push(answer);
        for (const { id = '', args } of calls) {
          messages.push(new ToolMessage({ tool_call_id: id, content: await mailTool.invoke(args) }));
        }
      }
      throw new Error('the model never stopped calling the tool');
    },
  };
}

async function gathered(stream: AsyncIterable<unknown>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | undefined;
  for await (const chunk of stream) {
    if (!(chunk instanceof AIMessageChunk)) throw new Error('a chunk that is no message');
    whole = whole ? whole.concat(chunk) : chunk;
  }
  if (!whole) throw new Error('an empty stream');
  return whole;
}
