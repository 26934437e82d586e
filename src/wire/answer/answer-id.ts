import type { Json } from '../document/json.ts';

/** An answer's id, if it is one that a row can hold. */
export function readId(id: Json | undefined): string | undefined {
  return typeof id === 'string' && /^[\w.:@/+=-]{1,128}$/.test(id) ? id : undefined;
}

/** Reads the ids of one stream, whose frames mostly repeat the same one. */
export class IdReader {
  #written: Json | undefined;
  #id: string | undefined;

  read(written: Json | undefined): string | undefined {
    if (written === this.#written) return this.#id;
    this.#written = written;
    return (this.#id = readId(written));
  }
}
