import { DocumentFault } from '#ports/documents.ts';
import type { Format } from '../format.ts';

/** Not built yet: every verb is refused. */
export const html: Format = {
  read: () => Promise.reject(new DocumentFault('unsupported', 'this kind of document is not read yet')),
  redact: () => Promise.reject(new DocumentFault('unsupported', 'this kind of document is not read yet')),
};
