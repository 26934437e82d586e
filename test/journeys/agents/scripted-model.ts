import type { ChatCompletionRequest, FixtureResponse } from '@copilotkit/aimock';

/** Whom the notes name: nobody who is protected, or somebody who may not leave where data protection replaces it. */
export const DESK = 'reception';
export const PERSON = 'ada.lovelace@example.com';

export function notesOf(contact: string): string {
  return `# Notes\n\nContact: ${contact}\n\nCall back on Monday.\n`;
}

/** What the model adds below the line of the contact. */
export const REVIEWED = 'Reviewed: yes';
/** Calls of tools in one session. */
const TURNS = 10;

/** How one agent's tools are called, as its own model would. */
export interface Hands {
  /** A tool that only this agent has. */
  readonly known: string;
  read(): Call;
  /** Puts a line below the one that reads so. */
  edit(line: string, added: string, tools: ReadonlySet<string>): Call;
  run(command: string): Call;
}

interface Call {
  readonly name: string;
  readonly input: object;
}

const CONTACT = /Contact: (\S+)/;

/**
 * A model that reads the notes, adds a line, and looks at what came of it with commands, ten calls in all, then says whom
 * it read of. It knows of a conversation only what it is sent, and repeats what stands there.
 */
export function scripted(hands: readonly Hands[]): (request: ChatCompletionRequest) => FixtureResponse {
  return ({ messages, tools }) => {
    const names = new Set((tools ?? []).map((tool) => tool.function.name));
    const own = hands.find(({ known }) => names.has(known));
    if (!own) return { content: names.size === 0 ? withoutTools(messages) : 'Notes' };
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content));
    const contact = results.map((text) => CONTACT.exec(text)?.[1]).find((one) => one !== undefined);
    const step = results.length;
    if (step >= TURNS) return { content: `Done. The contact is ${contact ?? 'nobody'}.` };
    const { name, input } = callAt(step, own, contact ?? 'nobody', names);
    const thought = { reasoning: `Step ${step}.`, reasoningSignature: 'c2lnbmVk' };
    return { ...thought, content: `Step ${step}.`, toolCalls: [{ name, arguments: JSON.stringify(input) }] };
  };
}

/** What agents ask beside their work: a title, a summary; or an agent without tools, whose edits stand in the answer. */
function withoutTools(messages: ChatCompletionRequest['messages']): string {
  const all = messages.map(({ content }) => textOf(content)).join('\n');
  const contact = CONTACT.exec(all)?.[1];
  if (!all.includes('SEARCH/REPLACE') || contact === undefined) return 'Notes';
  const line = `Contact: ${contact}`;
  const edit = ['<<<<<<< SEARCH', line, '=======', line, REVIEWED, '>>>>>>> REPLACE'].join('\n');
  return `Done. The contact is ${contact}.\n\nnotes.md\n\`\`\`\n${edit}\n\`\`\`\n`;
}

function callAt(step: number, hands: Hands, contact: string, tools: ReadonlySet<string>): Call {
  if (step === 0) return hands.read();
  if (step === 1) return hands.edit(`Contact: ${contact}`, REVIEWED, tools);
  return hands.run(step % 2 === 0 ? 'cat notes.md' : `grep -c ${contact} notes.md`);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as { text?: unknown }[]).map(({ text }) => (typeof text === 'string' ? text : '')).join('');
}
