import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { isStepCount, jsonSchema, streamText, tool, type LanguageModel, type ToolSet } from 'ai';
import { MAIL_TOOL, MOST_TURNS, type Client, type Connection, type MailArguments } from './client.ts';

/** The AI SDK with its providers for both vendors: `streamText`, and its own tool loop. */
export function aiSdkClients({ url, key }: Connection): readonly Client[] {
  const openai = createOpenAI({ apiKey: key, baseURL: `${url}/v1` });
  const anthropic = createAnthropic({ apiKey: key, baseURL: `${url}/v1` });
  return [
    aiSdk('@ai-sdk/openai chat', (model) => openai.chat(model)),
    aiSdk('@ai-sdk/openai responses', (model) => openai.responses(model)),
    aiSdk('@ai-sdk/anthropic', (model) => anthropic(model)),
  ];
}

function aiSdk(name: string, languageModel: (model: string) => LanguageModel): Client {
  const ask = async (model: string, prompt: string, tools: ToolSet): Promise<string> => {
    const errors: unknown[] = [];
    const result = streamText({
      model: languageModel(model),
      prompt,
      tools,
      stopWhen: isStepCount(MOST_TURNS),
      maxRetries: 0,
      maxOutputTokens: 256,
      onError: ({ error }) => void errors.push(error),
    });
    let last = '';
    for await (const part of result.fullStream) {
      if (part.type === 'start-step') last = '';
      else if (part.type === 'text-delta') last += part.text;
    }
    if (errors.length > 0) throw errors[0];
    return last;
  };
  return {
    name,
    stream: (model, prompt) => ask(model, prompt, {}),
    toolLoop(model, prompt, mail) {
      const { description, schema } = MAIL_TOOL;
      const inputSchema = jsonSchema<MailArguments>({ ...schema, required: [...schema.required] });
      return ask(model, prompt, { [MAIL_TOOL.name]: tool({ description, inputSchema, execute: mail }) });
    },
  };
}
