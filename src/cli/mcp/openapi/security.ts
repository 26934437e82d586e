import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { Unusable, type ApiDocument } from './api-document.ts';
import { shortText } from './input-schema.ts';

/** `spec.auth` as the document asks for it, and what its author must know. */
export interface ApiAuth {
  readonly auth: JsonObject | undefined;
  readonly notes: readonly string[];
}

interface AuthOptions {
  readonly secretKeyRef: { readonly name: string; readonly key: string };
  readonly clientId: string | undefined;
}

/** The first of the schemes that these operations ask for and that an MCPServer has. */
export function authOf(document: ApiDocument, operations: readonly JsonObject[], options: AuthOptions): ApiAuth {
  const asked = new Set<string>();
  for (const { security = document.root['security'] } of operations) {
    for (const one of Array.isArray(security) ? (security as readonly Json[]) : []) {
      if (isObject(one)) for (const name of Object.keys(one)) asked.add(name);
    }
  }
  const notes: string[] = [];
  let auth: JsonObject | undefined;
  for (const name of asked) {
    const found = auth ? undefined : authFrom(schemeIn(document, name), options);
    if (found?.auth) ({ auth } = found);
    for (const note of found?.notes ?? []) notes.push(note);
    if (!found) notes.push(`the security scheme ${shortText(name, 64)} is not used: spec.auth has one credential`);
  }
  return { auth, notes };
}

function schemeIn(document: ApiDocument, name: string): JsonObject {
  const { components } = document.root;
  const schemes = isObject(components) ? components['securitySchemes'] : undefined;
  if (!isObject(schemes) || !Object.hasOwn(schemes, name)) return {};
  try {
    return document.follow(schemes[name]).value;
  } catch (thrown) {
    if (thrown instanceof Unusable) return {};
    throw thrown;
  }
}

function authFrom(scheme: JsonObject, { secretKeyRef, clientId }: AuthOptions): ApiAuth {
  const { type, in: place, name } = scheme;
  const http = type === 'http' && typeof scheme['scheme'] === 'string' ? scheme['scheme'].toLowerCase() : undefined;
  const secret = `${secretKeyRef.name}/${secretKeyRef.key}`;
  if (http === 'bearer')
    return { auth: { type: 'Bearer', secretKeyRef }, notes: [`put the token into the Secret ${secret}`] };
  if (http === 'basic') {
    const auth = { type: 'Header', header: 'Authorization', secretKeyRef };
    return { auth, notes: [`put "Basic " and the base64 of user:password into the Secret ${secret}`] };
  }
  if (type === 'apiKey' && place === 'header' && typeof name === 'string')
    return { auth: { type: 'Header', header: name, secretKeyRef }, notes: [`put the key into the Secret ${secret}`] };
  const flows = type === 'oauth2' && isObject(scheme['flows']) ? scheme['flows'] : {};
  const flow = flows['clientCredentials'];
  if (isObject(flow) && typeof flow['tokenUrl'] === 'string') {
    const { tokenUrl } = flow;
    const scopes = isObject(flow['scopes']) ? Object.keys(flow['scopes']).slice(0, 32) : [];
    const auth = { type: 'ClientCredentials', tokenUrl, clientId: clientId ?? 'gatewarden', scopes, secretKeyRef };
    const note = `check tokenUrl and scopes, which the document names, and put the secret of the client into ${secret}`;
    return { auth, notes: clientId === undefined ? [note, 'give the client id with --client-id'] : [note] };
  }
  const what = [type, place].filter((word) => typeof word === 'string').join(' in ');
  return { auth: undefined, notes: [`a security scheme (${shortText(what, 64)}) is not supported: set spec.auth`] };
}
