import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ClusterFault } from '#/ports/cluster.ts';
import { hasOpenssl, makeClusterKeys, tokenKubeconfig } from '../../../test/harness/cluster-keys.ts';
import { skipUnless } from '../../../test/harness/skip.ts';
import { openApiClient } from './api-client.ts';

describe('over TLS', skipUnless(hasOpenssl(), 'openssl is not installed'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-client-'));
  const connections = new Set<unknown>();
  let server: Server;
  let url: string;

  beforeAll(async () => {
    makeClusterKeys(folder);
    const [key, cert] = ['apiserver.key', 'apiserver.crt'].map((name) => readFileSync(join(folder, name)));
    server = createServer({ key, cert }, (request, response) => {
      connections.add(request.socket);
      response.writeHead(request.headers.authorization === 'Bearer token-1' ? 200 : 401);
      response.end('{"a":1}\n{"a":2}\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });

  const kubeconfig = (token = 'token-1'): string => {
    const file = join(folder, 'kubeconfig');
    writeFileSync(file, tokenKubeconfig(folder, token, url, 'team'));
    return file;
  };

  test('a token and an authority of its own are enough; watches use one connection again and leave nothing on it', async () => {
    const client = openApiClient(kubeconfig());
    const warnings: string[] = [];
    const warned = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', warned);
    try {
      expect(client.namespace).toBe('team');
      const lines: unknown[] = [];
      for (let round = 0; round < 15; round++)
        await client.follow('/watch', (line) => lines.push(line), new AbortController().signal);
      expect(lines).toHaveLength(30);
      expect(connections.size).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      expect(warnings).toEqual([]);
    } finally {
      process.off('warning', warned);
      client.close();
    }
  });

  test('a token that is refused, and a server of another authority', async () => {
    const refused = openApiClient(kubeconfig('other'));
    await expect(refused.ask({ method: 'GET', path: '/' })).rejects.toMatchObject({ status: 401 });
    refused.close();
    const stranger = mkdtempSync(join(tmpdir(), 'gatewarden-client-'));
    try {
      makeClusterKeys(stranger);
      writeFileSync(join(stranger, 'kubeconfig'), tokenKubeconfig(stranger, 'token-1', url, 'team'));
      const client = openApiClient(join(stranger, 'kubeconfig'));
      const fault = await client.ask({ method: 'GET', path: '/' }).catch((error: unknown) => error);
      expect(fault).toBeInstanceOf(ClusterFault);
      expect(fault).toMatchObject({ status: undefined });
    } finally {
      rmSync(stranger, { recursive: true });
    }
  });
});
