import type { NamedTest } from './titles.ts';

const at = (file: string, title: string): NamedTest => ({ file: `test/${file}`, title });

const RESTART = 'a rolling restart under load fails no call, and cuts no stream before its five minutes';
const TWO_TENANTS = 'organizations never share, and what is stored says nothing';
const ALONE = 'is left alone: 503 at once with the time to come back, sealed, and nothing is billed';
const REBUILT = 'refuses with 503 and dispatches nothing; started again empty, spend is rebuilt before the first call';

/** Tests of other suites, where a sentence needs parts that they have: real models, containers, a Redis to break. */
export const ELSEWHERE: Readonly<Record<string, readonly NamedTest[]>> = {
  '1/14': [at('journeys/prices.test.ts', 'a replaced snapshot holds without a restart; one that was changed does not')],
  '1/15': [
    at('contract/ledger-audit.test.ts', 'finds an intact ledger intact'),
    at('contract/ledger-audit.test.ts', 'finds a field that was edited'),
  ],
  '2.1/2': [
    at(
      'journeys/discovery.test.ts',
      'are those that catalogue and prices know of the vendors that policy and credentials reach',
    ),
  ],
  '2.5/15': [
    at(
      'journeys/paperwork.test.ts',
      'of a photographed identity card the face is gone and the rest of the card can be read',
    ),
  ],
  '2.6/2': [at('models/sidecar.test.ts', 'are told of with the hash of their weights')],
  '2.8/1': [
    {
      file: 'src/cli/config/key-create.test.ts',
      title: 'shows the key once, beside a resource that holds its hash only',
    },
    at('journeys/configuration.test.ts', 'a key is added, then revoked, without a restart'),
  ],
  '4.1/9': [at('documents/jobs.test.ts', 'do a job once, and give out its result at an address that needs no key')],
  '4.1/20': [
    at('mcp/tool-calls.test.ts', 'all servers together: names with a prefix, and the same tools'),
    at('mcp/leaks.test.ts', '%s does not leave, and comes back'),
  ],
  '4.3/13': [at('failure/cache.test.ts', TWO_TENANTS)],
  '4.4/1': [at('models/typed-surface.test.ts', 'tells what a message is about')],
  '4.4/2': [at('models/decision-contract.test.ts', 'of the router has its three questions and a decision')],
  '4.4/11': [at('models/decision-contract.test.ts', 'is read to its 384th word')],
  '4.4/18': [
    at('models/altered-weights.test.ts', 'nothing is decided by %s, whose weights cannot be verified'),
    at('models/altered-weights.test.ts', 'neither is offered, in any shape'),
  ],
  '4.4/19': [
    at('models/decision-contract.test.ts', 'a router with more to do than it has room for says when to come again'),
  ],
  '5/4': [
    {
      file: 'src/cli/config/key-create.test.ts',
      title: 'shows the key once, beside a resource that holds its hash only',
    },
  ],
  '5/7': [at('documents/jobs.test.ts', 'take no address that was changed, or is over')],
  '6.1/8': [at('containers/journey.test.ts', RESTART)],
  '7.1/20': [at('failure/circuit.test.ts', ALONE)],
  '8/4': [at('failure/redis.test.ts', REBUILT)],
  '8/8': [at('containers/journey.test.ts', RESTART)],
  '8/12': [at('models/decision-contract.test.ts', 'is read to its 384th word')],
  '8/14': [
    at('models/sidecar.test.ts', 'turns away what finds no place, and ends what takes too long; another thread comes'),
  ],
};

/** What is measured, and no test decides: where a run is failed that takes longer. */
export const MEASURED: Readonly<
  Record<string, { readonly says: string; readonly file: string; readonly text: string }>
> = {
  '4.4/25': {
    says: 'make eval fails where 95 of 100 answers of the router take more than 60 ms of the processor',
    file: 'test/eval/goals.ts',
    text: "processor('prompts as they are', 'cpuP95', 60)",
  },
};
