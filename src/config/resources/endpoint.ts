import type { Rule } from './rules.ts';
import { text } from './schema.ts';

/** The address of a server: http or https, nothing but scheme, host, port and path. */
export function endpointUrl(description: string) {
  return text('url', { maxLength: 2048, description });
}

/** What an address must keep beyond its pattern: paths are appended to it, and it must not carry credentials. */
export const ENDPOINT_RULES: readonly Rule<{ readonly url: string }>[] = [
  {
    rule: 'isURL(self.url)',
    message: 'is not a valid address',
    fieldPath: '.url',
    check: (self) => URL.canParse(self.url),
  },
  {
    rule: "!self.url.matches('[@?#]')",
    message: 'must not have a user, a query or a fragment',
    fieldPath: '.url',
    check: (self) => !/[@?#]/.test(self.url),
  },
];
