import { afterAll, beforeAll, describe, inject } from 'vitest';
import { startRedis, type RedisServer } from '../harness/redis.ts';
import { creditSuite } from './limit-counters-credit.suite.ts';
import { moneySuite } from './limit-counters-money.suite.ts';
import { givenBackSuite } from './limit-counters-given-back.suite.ts';
import { ownersSuite } from './limit-counters-owners.suite.ts';
import { ratesSuite } from './limit-counters-rates.suite.ts';
import { loweringSuite } from './limit-counters-lowering.suite.ts';
import { restoreSuite } from './limit-counters-restore.suite.ts';
import { turnSuite } from './limit-counters-turn.suite.ts';
import { memory, memoryWithJournal, redis } from './limit-counters-subjects.ts';

let cluster: RedisServer;
beforeAll(async () => {
  cluster = await startRedis({ cluster: true });
});
afterAll(() => cluster.stop());

const subjects = [
  memory,
  memoryWithJournal,
  redis('Redis', () => inject('redisUrl')),
  redis('Redis Cluster', () => cluster.url, true),
];

describe.each(subjects)('limit counters: $name', (subject) => {
  moneySuite(subject);
  givenBackSuite(subject);
  creditSuite(subject);
  ratesSuite(subject);
  restoreSuite(subject);
  loweringSuite(subject);
  ownersSuite(subject);
  turnSuite(subject);
});
