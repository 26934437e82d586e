import type { ProviderConfig } from '#/config/snapshot.ts';
import { azure as vendor } from '#/vendors/azure.ts';
import { azureTokens, type AzureTokens } from './token.ts';
import { compatible } from '../base/compatible.ts';
import { PATHS, type HttpApi } from '../http/http-api.ts';
import type { Transport } from '../http/transport.ts';

/** Versions that the newer address takes; any other date belongs to the older one, where deployments are in the path. */
const V1_VERSIONS = new Set(['v1', 'preview', 'latest']);

/** The model is a deployment's name; older versions of the API have it in the path. // wire-formats 1.1 */
export const azure = compatible(vendor, {
  unlisted: true,
  families: (config) =>
    isClassic(config) ? vendor.families.filter((family) => family !== 'responses') : vendor.families,
  api: (config, transport) => (isClassic(config) ? classicApi(config, transport) : v1Api(config, transport)),
});

function isClassic({ url, apiVersion }: ProviderConfig): boolean {
  return apiVersion !== undefined && !V1_VERSIONS.has(apiVersion) && !url.endsWith('/v1');
}

/** `…/openai/v1/{path}`, with a version if one is configured. */
function v1Api({ url, apiVersion }: ProviderConfig, transport: Transport): HttpApi {
  const base = url.endsWith('/v1') ? url : `${url.replace(/\/openai$/, '')}/openai/v1`;
  return {
    base,
    authorize: authorizer(transport),
    ...(apiVersion !== undefined && {
      path: ({ family }) => versioned(PATHS[family] ?? '', apiVersion),
      passedPath: (path: string) => versioned(path, apiVersion),
    }),
  };
}

/** `…/openai/deployments/{deployment}/{path}?api-version=…`. What names no deployment is below `…/openai`. */
function classicApi({ url, apiVersion = '' }: ProviderConfig, transport: Transport): HttpApi {
  return {
    base: `${url.replace(/\/openai$/, '')}/openai`,
    authorize: authorizer(transport),
    path: ({ family, model }) =>
      versioned(`/deployments/${encodeURIComponent(model)}${PATHS[family] ?? ''}`, apiVersion),
    passedPath: (path) => versioned(path, apiVersion),
  };
}

function versioned(path: string, version: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}api-version=${encodeURIComponent(version)}`;
}

/** `api-key`, or the token of an Entra application. */
function authorizer(transport: Transport): HttpApi['authorize'] {
  const tokens: AzureTokens = azureTokens(transport);
  return (credential) => {
    if (!credential) return {};
    if (credential.type !== 'azure_ad') return { 'api-key': credential.secret };
    return tokens(credential.secret).then((token) => ({ authorization: `Bearer ${token}` }));
  };
}
