import type { Tool } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';

const text = { type: 'string' } as const;
const whole = { type: 'integer' } as const;
const pair = { type: 'array', items: whole } as const;
const oneOf = (...words: string[]): JsonObject => ({ type: 'string', enum: words });
const object = (properties: JsonObject, ...required: string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
});

const EDITS = { path: text, file_text: text, old_str: text, new_str: text, insert_line: whole, view_range: pair };

type ClientTool = Omit<Tool, 'name'>;

/**
 * The vendor's tools that the client runs, by the beginning of their types: the description that other models need to
 * call them.
 */
const CLIENT_RUN: readonly (readonly [prefix: string, tool: ClientTool])[] = [
  [
    'bash_',
    {
      description: 'Runs a command in a shell that stays open. restart: true opens a new one.',
      parameters: object({ command: text, restart: { type: 'boolean' } }),
    },
  ],
  [
    'text_editor_',
    {
      description:
        'Views, creates and edits text files. insert_line counts from 0; view_range is the first and last line.',
      parameters: object(
        {
          command: oneOf('view', 'create', 'str_replace', 'insert', 'undo_edit'),
          ...EDITS,
          insert_text: text,
        },
        'command',
        'path',
      ),
    },
  ],
  [
    'memory_',
    {
      description: 'Views and edits the files of a memory that outlives the conversation, under /memories.',
      parameters: object(
        {
          command: oneOf('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
          ...EDITS,
          insert_text: text,
          old_path: text,
          new_path: text,
        },
        'command',
      ),
    },
  ],
  [
    'computer_',
    {
      description: 'Looks at a screen and uses its mouse and keyboard. coordinate is x and y in pixels.',
      parameters: object(
        {
          action: text,
          coordinate: pair,
          start_coordinate: pair,
          text,
          duration: { type: 'number' },
          scroll_direction: oneOf('up', 'down', 'left', 'right'),
          scroll_amount: whole,
          region: pair,
        },
        'action',
      ),
    },
  ],
];

/** The description of a tool of this type for other models; undefined for one that the vendor runs itself. */
export function clientTool(type: string): ClientTool | undefined {
  return CLIENT_RUN.find(([prefix]) => type.startsWith(prefix))?.[1];
}
