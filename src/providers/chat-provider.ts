import type { CredentialConfig, ProviderConfig } from '#config/snapshot.ts';
import type { Incoming, Outgoing, Provider } from '#ports/provider.ts';
import type { Edit, WireDocument } from '#wire/document.ts';
import type { Transport } from './transport.ts';

/** What sets one OpenAI-compatible vendor apart from another. */
export interface ChatVendor {
  /** False where the vendor refuses `stream_options.include_usage`. */
  readonly usageOption?: boolean;
  readonly quirks?: (document: WireDocument) => readonly Edit[];
}

/** A provider that speaks chat completions at `<url>/chat/completions` with a bearer key, or none where it has none. */
export function chatProvider(config: ProviderConfig, transport: Transport, vendor: ChatVendor = {}): Provider {
  const address = new URL(`${config.url}/chat/completions`);
  const path = address.pathname + address.search;
  return {
    config,
    speaks: ['chat'],
    usageOption: vendor.usageOption ?? true,
    quirks: vendor.quirks ?? (() => []),
    send(outgoing: Outgoing): Promise<Incoming> {
      const headers: Record<string, string> = {
        'content-type': 'application/json',
        accept: outgoing.stream ? 'text/event-stream' : 'application/json',
      };
      const credential = pickCredential(config.credentials);
      if (credential) headers['authorization'] = `Bearer ${credential.secret}`;
      const { body, timeoutMs, signal, stream } = outgoing;
      return transport.send({ method: 'POST', origin: address.origin, path, headers, body, timeoutMs, idle: stream, signal });
    },
  };
}

/** Spreads calls over credentials by weight; weight 0 is never used while another is there. */
function pickCredential(credentials: readonly CredentialConfig[]): CredentialConfig | undefined {
  if (credentials.length <= 1) return credentials[0];
  const total = credentials.reduce((sum, credential) => sum + credential.weight, 0);
  let at = Math.random() * total;
  for (const credential of credentials) {
    at -= credential.weight;
    if (at < 0) return credential;
  }
  return credentials.at(-1);
}
