import { describe, expect, test } from 'vitest';
import { HAS_HELM, template } from '../harness/helm.ts';
import { skipUnless } from '../harness/skip.ts';
import { INSTALLATIONS } from './values.ts';

const server = (name: string, port: number, key: string): object => ({
  ...{ name, port, image: `registry.example/x@sha256:${'b'.repeat(64)}`, args: ['x'] },
  token: { secret: 'shared', key },
});

describe(
  "servers over standard input in the gateway's pod",
  skipUnless(HAS_HELM, 'helm is not built: `make helm`'),
  () => {
    test('start after the engine: they may be slow', () => {
      const gateway = { stdioServers: [server('a', 3100, 'a')] };
      const { out } = template('gatewarden', { ...INSTALLATIONS['sidecar'], gateway });
      const names = [...out.matchAll(/^ {10}name: (inference|stdio-a)$/gm)].map(([, name]) => name);
      expect(names).toEqual(['inference', 'stdio-a']);
    });

    test('have tokens of their own', () => {
      const rendered = (key: string) => {
        const gateway = { stdioServers: [server('a', 3100, 'a'), server('b', 3101, key)] };
        return template('gatewarden', { ...INSTALLATIONS['small'], gateway });
      };
      expect(rendered('b').status).toBe(0);
      const { status, err } = rendered('a');
      expect(status).not.toBe(0);
      expect(err).toContain('each must have a token of its own');
    });
  },
);
