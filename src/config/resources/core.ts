import Type from 'typebox';
import { coreKind } from './kind.ts';
import { stringMap } from './schema.ts';

const SECRET_MAX = 1_048_576;

/** The Secret kind of Kubernetes, as far as configuration reads it. */
export const secret = coreKind('Secret', {
  type: Type.Optional(Type.String({ maxLength: 316 })),
  immutable: Type.Optional(Type.Boolean()),
  stringData: Type.Optional(stringMap({ maxLength: SECRET_MAX })),
  data: Type.Optional(stringMap({ maxLength: SECRET_MAX * 2 })),
});

/** The Namespace kind of Kubernetes: only its labels matter here. */
export const namespace = coreKind('Namespace', {
  spec: Type.Optional(Type.Unknown()),
  status: Type.Optional(Type.Unknown()),
});
