import Type, { type Static } from 'typebox';
import { customKind } from './kind.ts';
import { rulesAt, type Rule } from './rules.ts';
import { closed, localRef, text, values } from './schema.ts';

const spec = closed({
  workloadRef: localRef({ description: 'The workload whose key this is. Cannot be changed.' }),
  displayName: Type.Optional(Type.String({ maxLength: 128, description: 'Name shown to people.' })),
  hash: closed(
    {
      algorithm: values(['SHA256'], { default: 'SHA256', description: 'How the secret was hashed.' }),
      value: text('sha256', { minLength: 64, maxLength: 64, description: 'Hash of the secret, in hexadecimal.' }),
    },
    { description: 'Hash of the secret. The secret itself is not stored. Cannot be changed.' },
  ),
  hint: Type.Optional(
    text('hint', { maxLength: 12, description: 'First characters of the secret, to recognize the key.' }),
  ),
  expiresAt: Type.Optional(Type.String({ format: 'date-time', description: 'When the key stops working.' })),
  revoked: Type.Boolean({ default: false, description: 'Whether the key is revoked. Cannot be undone.' }),
});

/** `spec` of a VirtualKey: a credential of a workload. */
export type VirtualKeySpec = Static<typeof spec>;

const rules: readonly Rule<VirtualKeySpec>[] = [
  {
    rule: 'self.hash == oldSelf.hash && self.workloadRef == oldSelf.workloadRef',
    message: 'hash and workloadRef are immutable: create a new key',
  },
  { rule: '!oldSelf.revoked || self.revoked', message: 'cannot be undone', fieldPath: '.revoked' },
];

/** The VirtualKey kind. */
export const virtualKey = customKind('VirtualKey', spec, [rulesAt('spec', rules)]);
