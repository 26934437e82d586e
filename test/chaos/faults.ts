import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { LinkState } from './link.ts';
import type { Random } from '../harness/random.ts';
import type { Slot, World } from './world.ts';

/** Something that goes wrong, and is put right again before it resolves. */
export interface Fault {
  readonly name: string;
  /** How often it is drawn. */
  readonly weight: number;
  /** What fails, so that a round can tell one component from two. */
  readonly component: 'gateway' | 'redis' | 'postgres' | 'network' | 'clock';
  /** The store forgets: together with a gateway that dies, money may be spent twice. */
  readonly losesData?: true;
  readonly killsGateways?: true;
  run(world: World, random: Random): Promise<void>;
}

const HOUR = 3_600_000;

function slotOf(world: World, random: Random): Slot {
  return random.pick(world.slots as [Slot, ...Slot[]]);
}

async function killAndStart(world: World, slot: Slot, random: Random): Promise<void> {
  await world.kill(slot);
  await sleep(random.whole(0, 800));
  await world.start(slot);
}

/** Puts links of one gateway, or of all, into a state for a while. */
function network(state: LinkState, store: 'redis' | 'postgres', most: number, weight = 1): Fault {
  return {
    name: `${store} ${state}`,
    weight,
    component: 'network',
    async run(world, random) {
      const slots = random.chance(0.5) ? world.slots : [slotOf(world, random)];
      for (const slot of slots) slot[store].set(state);
      await sleep(random.whole(200, most));
      for (const slot of slots) slot[store].set('open');
    },
  };
}

/** Everything the suite does to the corridor. A new kind of failure is a line here. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'a gateway killed',
    killsGateways: true,
    weight: 4,
    component: 'gateway',
    run: (world, random) => killAndStart(world, slotOf(world, random), random),
  },
  {
    name: 'all gateways killed but one',
    killsGateways: true,
    weight: 1,
    component: 'gateway',
    async run(world, random) {
      const spared = slotOf(world, random);
      const others = world.slots.filter((slot) => slot !== spared);
      await Promise.all(others.map((slot) => killAndStart(world, slot, random)));
    },
  },
  {
    name: 'a gateway stopped and continued',
    weight: 2,
    component: 'gateway',
    async run(world, random) {
      const { life } = slotOf(world, random);
      life?.gateway.signal('SIGSTOP');
      await sleep(random.whole(200, 3000));
      life?.gateway.signal('SIGCONT');
    },
  },
  {
    // Others take its calls over, and it comes back believing that they are its own.
    name: 'a gateway stopped for longer than its lease',
    weight: 0.5,
    component: 'gateway',
    async run(world, random) {
      const { life } = slotOf(world, random);
      if (!life) return;
      // It finds its own timeouts run out.
      life.stoodStill = true;
      life.gateway.signal('SIGSTOP');
      await sleep(random.whole(19_000, 22_000));
      life.gateway.signal('SIGCONT');
    },
  },
  {
    name: 'a gateway told to end',
    weight: 1,
    component: 'gateway',
    async run(world, random) {
      const slot = slotOf(world, random);
      if (!slot.life) return;
      slot.life.ending = true;
      await slot.life.gateway.stop();
      slot.life = undefined;
      await world.start(slot);
    },
  },
  {
    name: 'Redis killed',
    weight: 3,
    component: 'redis',
    async run(world, random) {
      await world.redis.kill();
      await sleep(random.whole(0, 2000));
      await world.redis.restart({ empty: false });
    },
  },
  {
    name: 'Redis killed, its data gone',
    weight: 1,
    component: 'redis',
    losesData: true,
    async run(world, random) {
      await world.redis.kill();
      await sleep(random.whole(0, 2000));
      await world.redis.restart({ empty: true });
    },
  },
  {
    // As a machine that crashes between two fsyncs, or a replica that was behind when it took over.
    name: 'Redis killed, its last writes gone',
    weight: 1,
    component: 'redis',
    losesData: true,
    async run(world, random) {
      await world.redis.kill();
      await sleep(random.whole(0, 2000));
      const keep = Math.max(0, world.redis.written() - random.whole(200, 8000));
      await world.redis.restart({ empty: false, keep });
    },
  },
  {
    name: 'Redis stopped and continued',
    weight: 2,
    component: 'redis',
    async run(world, random) {
      world.redis.pause();
      await sleep(random.whole(200, 4000));
      world.redis.resume();
    },
  },
  {
    name: 'PostgreSQL killed',
    weight: 3,
    component: 'postgres',
    async run(world, random) {
      await world.postgres.kill();
      await sleep(random.whole(0, 3000));
      await world.postgres.restart();
    },
  },
  {
    name: 'a backend of PostgreSQL killed',
    weight: 1,
    component: 'postgres',
    async run(world) {
      const client = new pg.Client({ connectionString: world.databaseUrl });
      client.on('error', () => {});
      await client.connect();
      const { rows } = await client.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'gatewarden' ORDER BY state = 'active' DESC LIMIT 1",
      );
      // The server then ends all its other processes and recovers as after a crash.
      if (rows[0]) process.kill(rows[0].pid, 'SIGKILL');
      await client.end().catch(() => {});
    },
  },
  network('cut', 'redis', 2500),
  network('stalled', 'redis', 4000),
  network('mute', 'redis', 2500, 2),
  network('slow', 'redis', 3000),
  network('cut', 'postgres', 2500),
  network('stalled', 'postgres', 4000),
  network('mute', 'postgres', 2500, 2),
  network('slow', 'postgres', 3000),
  {
    name: 'a clock jumps',
    weight: 4,
    component: 'clock',
    async run(world, random) {
      const by = random.pick([1000, 20_000, 90_000, HOUR, 13 * HOUR, 25 * HOUR]) * (random.chance(0.5) ? 1 : -1);
      const slot = slotOf(world, random);
      world.setClock(slot, by);
      await sleep(random.whole(300, 2500));
      if (random.chance(0.7)) world.setClock(slot, 0);
    },
  },
];
