import { expect, test } from 'vitest';
import { ownPorts } from './own-ports.ts';

test('the ports of the gateway are its own, and those of an engine on this machine', () => {
  const of = (inference: { url: string } | 'child' | 'off', engine?: string): readonly number[] => [
    ...ownPorts({ port: 8080, adminPort: 8081, inference }, engine),
  ];
  expect(of('off')).toEqual([8080, 8081]);
  expect(of({ url: 'http://127.0.0.1:8090' })).toEqual([8080, 8081, 8090]);
  expect(of({ url: 'http://inference.gateway.svc:8090' })).toEqual([8080, 8081]);
  expect(of('child', 'http://127.0.0.1:41234')).toEqual([8080, 8081, 41234]);
  expect([...ownPorts({ port: 0, adminPort: 0, inference: 'off' })]).toEqual([]);
});
