import type { ProviderConfig } from '#/config/snapshot.ts';
import type { Outgoing, Provider } from '#/ports/provider.ts';
import { readFailure } from './http/failure.ts';
import { fitMessages } from './fit/messages.ts';
import { configured, httpExit, type Headers } from './http/http-api.ts';
import { listModels, MESSAGES_LIST } from './catalogue/model-list.ts';
import type { ProviderDeps } from './base/create-provider.ts';

const DEFAULT_VERSION = '2023-06-01';
/** Tokens of a person's account; everything else is an API key. The vendor answers 401 to both headers at once. */
const OAUTH_TOKEN = /^sk-ant-oat/;

/** A provider that speaks messages at `<url>/messages`: Anthropic, and any server that speaks its protocol. // wire-formats 1.1 */
export function messagesProvider(config: ProviderConfig, { transport, traits }: ProviderDeps): Provider {
  const exit = httpExit(
    {
      base: config.url,
      authorize(credential) {
        if (!credential) return {};
        const { secret } = credential;
        return OAUTH_TOKEN.test(secret) ? { authorization: `Bearer ${secret}` } : { 'x-api-key': secret };
      },
      headers: (client) => protocolHeaders(client, config),
    },
    transport,
  );
  return {
    config,
    ...configured(config),
    families: () => ['messages'],
    traits: (model) => traits(config, model),
    fit: (document, context, lose) => fitMessages(document, config, traits(config, context.model), context, lose),
    send: exit.send,
    pass: exit.pass,
    list: (ask) => listModels(MESSAGES_LIST, exit.pass, ask),
    readFailure,
  };
}

/** The protocol's version and beta flags, as the client sent them. // spec 9.2, 9.3 */
function protocolHeaders(client: Outgoing['headers'], { keyOwnership }: ProviderConfig): Headers {
  const asked = [client['anthropic-version']].flat()[0];
  const version = asked !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(asked) ? asked : DEFAULT_VERSION;
  const beta = betaFlags([client['anthropic-beta']].flat(), keyOwnership);
  const more = keyOwnership === 'organization' ? openHeaders(client) : {};
  return { ...more, 'anthropic-version': version, ...(beta !== '' && { 'anthropic-beta': beta }) };
}

/** What the protocol may come to know. Neither what proves who asks, nor what a browser says of itself. */
const OPEN = /^anthropic-(?!version$|beta$|dangerous-)[a-z0-9-]{1,64}$/;
/** Flags, ids, numbers: no words, because these headers are not inspected. */
const TELLABLE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?:, ?[A-Za-z0-9][A-Za-z0-9._-]{0,127}){0,31}$/;

/**
 * The vendor's list of headers is open; on another's account, an unknown one could cost money without its owner's
 * consent.
 */
function openHeaders(client: Outgoing['headers']): Headers {
  const told: Record<string, string> = {};
  for (const name in client) {
    const value = client[name];
    if (OPEN.test(name) && typeof value === 'string' && TELLABLE.test(value)) told[name] = value;
  }
  return told;
}

/** Byte for byte; but flags of a person's sign-in say nothing about a managed account. */
function betaFlags(lines: readonly (string | undefined)[], ownership: ProviderConfig['keyOwnership']): string {
  const flags = lines.filter((line) => line !== undefined && line !== '').join(',');
  if (ownership === 'organization' || !flags.includes('oauth-')) return flags;
  return flags
    .split(',')
    .filter((flag) => !flag.trim().startsWith('oauth-'))
    .join(',');
}
