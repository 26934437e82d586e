import { expect, test } from 'vitest';
import type { McpServerConfig } from '#/config/snapshot.ts';
import type { ToolCallRequest } from '#/call/tool-call.ts';
import { createContentCipher } from '#/seal/content/content-cipher.ts';
import { openState, sealState } from './input-state.ts';
import { openSealed, sealSession, type SessionOwner } from './session-ids.ts';

const cipher = createContentCipher([{ id: 'k', secret: Buffer.alloc(32, 1) }]);
const key = {
  id: 'acme/key',
  workload: { organization: { id: 'acme' }, mcpServers: new Map() },
} as unknown as SessionOwner['key'];
const SERVER = { id: 'acme/crm', url: 'http://crm.example/mcp' } as McpServerConfig;

interface Who {
  readonly person?: string;
  readonly subject?: string;
}

/** A token that names no person, unlike others. */
const token = (id: string, signature = 's'): string =>
  `e30.${Buffer.from(JSON.stringify({ client_id: 'agent', jti: id })).toString('base64url')}.${signature}`;

test.each<[string, Who, Who, boolean]>([
  ['the same key', {}, {}, true],
  ['the same token without a person', { subject: token('a') }, { subject: token('a') }, true],
  ['another spelling of its signature', { subject: token('a') }, { subject: token('a', 't') }, true],
  ['another token without a person', { subject: token('a') }, { subject: token('b') }, false],
  ['the key itself', { subject: token('a') }, {}, false],
  ['a token, where it was sealed for the key itself', {}, { subject: token('a') }, false],
  ['another token of one person', { person: 'p', subject: token('a') }, { person: 'p', subject: token('b') }, true],
  ['another person', { person: 'p', subject: token('a') }, { person: 'q', subject: token('a') }, false],
])('a text sealed for one caller opens for %s or not', (_what, sealedFor, openedBy, isOpened) => {
  const owner = (who: Who): SessionOwner => ({ key, server: undefined, ...who });
  const id = sealSession(cipher, owner(sealedFor), { name: 'n', capabilities: {} }, []);
  expect(openSealed(cipher, owner(openedBy), id ?? '') !== undefined).toBe(isOpened);

  const caller = (who: Who) => ({ key, tool: 'ask', ...who }) as ToolCallRequest;
  const kept = { state: 'x', answers: [], sent: '', forms: {} };
  const state = sealState(cipher, caller(sealedFor), SERVER, kept);
  const opening = () => openState(cipher, caller(openedBy), SERVER, state).state;
  if (isOpened) expect(opening()).toBe('x');
  else expect(opening).toThrow('not of this call');
});
