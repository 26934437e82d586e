import { GatewayError } from '#/errors/gateway-error.ts';

const JSON_TYPE = /^application\/json(?=[\t ;]|$)/i;
const FORM_TYPE = /^multipart\/form-data(?=[\t ;]|$)/i;
const CHARSET = /;[\t ]*charset[\t ]*=[\t ]*"?([^\s";]*)/gi;

export function isForm(contentType: string): boolean {
  return FORM_TYPE.test(contentType);
}

export function isJson(contentType: string): boolean {
  return JSON_TYPE.test(contentType);
}

/** Throws `unsupported_media_type` for what is not JSON in UTF-8, which is all that JSON may be in. // RFC 8259 8.1 */
export function requireJson(contentType: string): void {
  if (contentType === 'application/json') return;
  if (!isJson(contentType)) throw unsupported('The request body must be application/json.');
  for (const [, charset = ''] of contentType.matchAll(CHARSET)) {
    if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
      throw unsupported('The charset of a JSON body must be utf-8. Send the body in UTF-8 and omit charset.');
    }
  }
}

export function unsupported(message: string): GatewayError {
  return new GatewayError('unsupported_media_type', message);
}
