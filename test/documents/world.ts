import { hash } from 'node:crypto';
import { inject } from 'vitest';
import { encode } from '../../inference/formats/image/encode.ts';
import {
  newKey,
  resource,
  startGateway,
  tenant,
  type GatewayOptions,
  type GatewayProcess,
} from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { picture, writtenPage } from '../harness/pictures.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import type { AuditRow } from '#/seal/row.ts';

/** A gateway with a document engine, and applications under rules of their own. */
export interface DocumentWorld extends AsyncDisposable {
  readonly gateway: GatewayProcess;
  /** Keys by the name of their workload. */
  readonly keys: Readonly<Record<string, string>>;
  ocr(body: object, options?: Asking): Promise<Response>;
  anonymize(form: FormData, options?: Asking): Promise<Response>;
  get(path: string, options?: Asking): Promise<Response>;
  post(path: string, body: object, options?: Asking): Promise<Response>;
  /** The audit row of an answer. */
  row(answer: Response): Promise<AuditRow>;
  /** Of the gateway; 0 when it is not there. */
  metric(name: string): Promise<number>;
  readonly databaseUrl: string;
}

interface Asking {
  /** Of a workload; `app` unless it is named. */
  readonly as?: string;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A workload beside `app`, with a policy of its own. */
interface Application {
  readonly workload?: object;
  readonly policy?: object;
}

export interface WorldOptions extends Pick<GatewayOptions, 'documentsUrl' | 'env'> {
  readonly upstreamUrl?: string;
  readonly applications?: Readonly<Record<string, Application>>;
  readonly more?: readonly object[];
  readonly prices?: readonly object[];
  /** Fields of the organization of all applications. */
  readonly organization?: object;
}

const PRICES = [{ model: 'upstream/*', unit: 'Page', input: '0.02' }];

/** Starts it, with a database of its own and counters in memory. */
export async function startDocumentWorld(options: WorldOptions): Promise<DocumentWorld> {
  const { applications = {}, more = [], prices = PRICES, organization = {}, ...others } = options;
  const { upstreamUrl = 'http://127.0.0.1:9/v1', ...rest } = others;
  const keys: Record<string, string> = { app: newKey() };
  const resources = [...tenant({ upstreamUrl, key: keys['app'] ?? '', prices, organization }), ...more];
  for (const [name, { workload, policy }] of Object.entries(applications)) {
    const key = (keys[name] = newKey());
    resources.push(resource('Workload', name, { organizationRef: { name: 'acme' }, ...workload }));
    const value = hash('sha256', key, 'hex');
    resources.push(
      resource('VirtualKey', `${name}-key`, { workloadRef: { name }, hash: { algorithm: 'SHA256', value } }),
    );
    if (policy) {
      resources.push(resource('Policy', name, { targetRefs: [{ kind: 'Workload', name }], defaults: policy }));
    }
  }
  const databaseUrl = await createDatabase(inject('databaseUrl'));
  const gateway = await startGateway({ resources, databaseUrl, ...rest });
  const rejected = gateway.log.find((line) => line.includes('config.rejected'));
  if (rejected !== undefined) throw new Error(rejected);
  const ask = (path: string, { as = 'app', headers, signal }: Asking, init: RequestInit): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${keys[as]}`, ...headers },
      ...(signal && { signal }),
    });
  const post = (path: string, body: object, asking: Asking): Promise<Response> => {
    const headers = { 'content-type': 'application/json', ...asking.headers };
    return ask(path, { ...asking, headers }, { method: 'POST', body: JSON.stringify(body) });
  };
  return {
    gateway,
    keys,
    databaseUrl,
    ocr: (body, asking = {}) => post('/v1/ocr', body, asking),
    post: (path, body, asking = {}) => post(path, body, asking),
    anonymize: (body, asking = {}) => ask('/v1/documents/anonymize', asking, { method: 'POST', body }),
    get: (path, asking = {}) => ask(path, asking, {}),
    row: (answer) => rowOf(databaseUrl, answer.headers.get('x-request-id')),
    async metric(name) {
      const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
      const line = text.split('\n').find((one) => one.startsWith(`${name} `));
      return Number(line?.split(' ')[1] ?? 0);
    },
    [Symbol.asyncDispose]: async () => void (await gateway.stop()),
  };
}

/** A picture of lines in capitals. */
export function written(...lines: readonly string[]): Promise<Buffer> {
  return picture(writtenPage(lines)).png().toBuffer();
}

/** A TIFF with a page for each text. */
export async function pagesOf(texts: readonly string[]): Promise<Uint8Array> {
  const frames = await Promise.all(
    texts.map(async (text) => {
      const { data, info } = await picture(writtenPage([text]))
        .raw()
        .toBuffer({ resolveWithObject: true });
      return { data, width: info.width, height: info.height, dpi: 100 };
    }),
  );
  return encode(frames, 'image/tiff');
}

/** A request body for text recognition. */
export function ocrOf(bytes: Uint8Array, more: object = {}, mediaType = 'image/png'): object {
  const document_url = `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`;
  return { model: 'gw/ocr', document: { type: 'document_url', document_url }, ...more };
}

/** The form of a document. `options` absent: no such part. */
export function formOf(bytes: Uint8Array, name: string, options?: object | string): FormData {
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(bytes)]), name);
  if (options !== undefined) form.append('options', typeof options === 'string' ? options : JSON.stringify(options));
  return form;
}

/** The error of a failure, and what goes with it. */
export async function failureOf(
  answer: Response,
): Promise<{ status: number; code: string; param: string | null; message: string }> {
  const { error } = (await answer.json()) as { error: { code: string; param: string | null; message: string } };
  const { code, param, message } = error;
  return { status: answer.status, code, param, message };
}
