/** Which texts a setting may have, and the value that each stands for. */
export type Form =
  /** `must` ends the sentence "GW_X must …". */
  | { readonly kind: 'text'; readonly pattern?: RegExp; readonly must?: string }
  /** A whole number from `least` to `most`; the value that is read is `times` as large. */
  | { readonly kind: 'whole'; readonly least: number; readonly most: number; readonly times: number }
  | { readonly kind: 'flag' }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'url'; readonly schemes: readonly string[] }
  /** Several texts, separated by commas. */
  | { readonly kind: 'list'; readonly item: RegExp; readonly must: string };

const MIB = 1024 * 1024;

/** Name of a namespace of Kubernetes. */
export const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
/** Any text. */
export const ANY = { kind: 'text' } as const;
export const FLAG = { kind: 'flag' } as const;
export const WEB_URL = { kind: 'url', schemes: ['http:', 'https:'] } as const;
export const REDIS = { kind: 'url', schemes: ['redis:', 'rediss:'] } as const;
export const POSTGRES = { kind: 'url', schemes: ['postgres:', 'postgresql:'] } as const;

export const text = (pattern: RegExp, must: string) => ({ kind: 'text', pattern, must }) as const;
export const list = (item: RegExp, must: string) => ({ kind: 'list', item, must }) as const;
export const words = <const W extends readonly string[]>(...all: W) => ({ kind: 'words', words: all }) as const;
export const whole = (least: number, most: number) => ({ kind: 'whole', least, most, times: 1 }) as const;
/** Written in mebibytes, read as bytes. */
export const mebibytes = (least: number, most: number) => ({ kind: 'whole', least, most, times: MIB }) as const;
/** Written in seconds, read as milliseconds. */
export const secondsAsMs = (least: number, most: number) => ({ kind: 'whole', least, most, times: 1000 }) as const;

/** What a value of this form is in the program. */
export type Value<F extends Form> = F extends { kind: 'whole' }
  ? number
  : F extends { kind: 'flag' }
    ? boolean
    : F extends { kind: 'words'; words: readonly (infer W)[] }
      ? W
      : F extends { kind: 'list' }
        ? readonly string[]
        : string;

/** The rule of the form, as the end of the sentence "GW_X must …". */
export function allowed(form: Form): string {
  switch (form.kind) {
    case 'text':
      return form.must ?? 'be a text';
    case 'whole':
      return `be a whole number from ${form.least} to ${form.most}`;
    case 'flag':
      return 'be true or false';
    case 'words':
      return form.words.length === 2 ? `be ${form.words.join(' or ')}` : `be one of ${form.words.join(', ')}`;
    case 'url':
      return `be a URL starting with ${form.schemes.join(' or ')}`;
    case 'list':
      return form.must;
  }
}

/** The value of a text; undefined where the form does not allow the text. */
export function parse(form: Form, written: string): Value<Form> | undefined {
  switch (form.kind) {
    case 'text':
      return !form.pattern || form.pattern.test(written) ? written : undefined;
    case 'whole': {
      const number = /^\d{1,10}$/.test(written) ? Number(written) : Number.NaN;
      return number >= form.least && number <= form.most ? number * form.times : undefined;
    }
    case 'flag':
      return written === 'true' || written === 'false' ? written === 'true' : undefined;
    case 'words':
      return form.words.includes(written) ? written : undefined;
    case 'url':
      return form.schemes.includes(URL.parse(written)?.protocol ?? '') ? written : undefined;
    case 'list': {
      const items = written.split(',');
      return items.every((item) => form.item.test(item)) ? items : undefined;
    }
  }
}
