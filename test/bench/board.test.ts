import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { startProgram, type Program } from './processes.ts';

const FOLDER = new URL('./board/gatewarden/', import.meta.url);
const DIALECTS = ['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere', 'bedrock'] as const;

/** What the board reads of a definition. It refuses fields that it does not know. */
const Definition = z.strictObject({
  auth: z.string().min(1),
  class: z.string().min(1),
  config: z.array(z.never()),
  config_files: z.array(z.strictObject({ output: z.string(), template: z.string() })),
  display: z.string().min(1),
  egress: z.array(z.enum(DIALECTS)),
  egress_models: z.partialRecord(z.enum(DIALECTS), z.string()),
  lang: z.string().min(1),
  launch: z.strictObject({
    args: z.array(z.string()),
    image: z.string().min(1),
    kind: z.literal('docker'),
    mounts: z.array(z.strictObject({ container_path: z.string(), host_path: z.string(), read_only: z.boolean() })),
  }),
  matrix: z.array(z.string().regex(/^[01]{6}$/)).length(6),
  matrix_note: z.string(),
  model: z.string().min(1),
  name: z.literal('gatewarden'),
  path: z.string().startsWith('/'),
  port: z.int().positive(),
  repo: z.url(),
  runtime: z.strictObject({ container: z.string().min(1), kind: z.literal('docker') }),
});

const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');
const definition = Definition.parse(JSON.parse(read('definition.json')));

/** The resources as the board writes them for a mock at this port. */
function resourcesFor(port: number): object[] {
  const text = definition.config_files.map(({ template }) => read(template).replaceAll('{MOCK_PORT}', String(port)));
  return parseAllDocuments(text.join('\n---\n')).map((document) => document.toJS() as object);
}

describe('the entry for a board', () => {
  let upstream: Program;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    upstream = await startProgram('./upstream.ts');
    gateway = await startGateway({ resources: resourcesFor(upstream.port) });
  });
  afterAll(async () => {
    await gateway?.stop();
    upstream?.stop();
  });

  it('mounts what its templates make', () => {
    expect(definition.launch.mounts.map((one) => one.host_path)).toEqual(
      definition.config_files.map(({ output }) => output),
    );
  });

  it('holds no shell variable that stays as it is', () => {
    expect(JSON.stringify(definition)).not.toContain('$');
  });

  it('lets the key of its definition in', () => {
    expect(read('resources.gen.yaml.tmpl')).toContain(hash('sha256', definition.auth, 'hex'));
  });

  it.each([
    ['chat completions', '/v1/chat/completions', 'openai', 'chat.completion'],
    ['chat completions', '/v1/chat/completions', 'anthropic', 'chat.completion'],
    ['messages', '/v1/messages', 'openai', '"type":"message"'],
    ['messages', '/v1/messages', 'anthropic', '"type":"message"'],
  ] as const)('answers %s on %s by the mock of %s', async (_name, path, egress, expected) => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${definition.auth}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: definition.egress_models[egress],
        messages: [{ role: 'user', content: 'hello' }],
        max_tokens: 16,
      }),
    });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([200, expect.stringContaining(expected)]);
  });
});
