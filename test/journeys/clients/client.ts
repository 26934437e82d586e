/** What a client library is started with. */
export interface Connection {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly url: string;
  readonly key: string;
}

/** One client library, unmodified, as an application uses it. */
export interface Client {
  /** The package, and which of its ways to ask. */
  readonly name: string;
  /** Asks for a stream by the library's own helper; the whole text. */
  stream(model: string, prompt: string): Promise<string>;
  /** Offers `MAIL_TOOL`, runs it with `mail` whenever the model asks for it, and goes on until there is a text. */
  toolLoop(model: string, prompt: string, mail: (args: MailArguments) => string): Promise<string>;
}

export interface MailArguments {
  readonly to: string;
  readonly subject: string;
}

/** The one tool of these journeys. */
export const MAIL_TOOL = {
  name: 'send_mail',
  description: 'Sends a mail.',
  schema: {
    type: 'object' as const,
    properties: { to: { type: 'string' as const }, subject: { type: 'string' as const } },
    required: ['to', 'subject'] as const,
    additionalProperties: false,
  },
};

/** Turns of a tool loop before it is given up. */
export const MOST_TURNS = 4;
