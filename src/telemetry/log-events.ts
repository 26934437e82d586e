/** An event of the process log. */
export interface LogEvent {
  readonly levels: readonly ('fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace')[];
  readonly by: readonly ('gateway' | 'controller' | 'engine' | 'bridge')[];
  /** Members of the line besides `level`, `time` and `event`. */
  readonly facts: readonly string[];
  readonly meaning: string;
}

const ALL = ['gateway', 'controller', 'engine', 'bridge'] as const;

/** A row of the table. */
function event<const L extends LogEvent['levels'], const F extends readonly string[]>(
  by: LogEvent['by'],
  levels: L,
  facts: F,
  meaning: string,
) {
  return { by, levels, facts, meaning } as const satisfies LogEvent;
}

const onGateway = <const L extends LogEvent['levels'], const F extends readonly string[]>(
  levels: L,
  facts: F,
  meaning: string,
) => event(['gateway'], levels, facts, meaning);

const onController = <const L extends LogEvent['levels'], const F extends readonly string[]>(
  levels: L,
  facts: F,
  meaning: string,
) => event(['controller'], levels, facts, meaning);

const onEngine = <const L extends LogEvent['levels'], const F extends readonly string[]>(
  levels: L,
  facts: F,
  meaning: string,
) => event(['engine'], levels, facts, meaning);

const onBridge = <const L extends LogEvent['levels'], const F extends readonly string[]>(
  levels: L,
  facts: F,
  meaning: string,
) => event(['bridge'], levels, facts, meaning);

const fault = (what: string) => onGateway(['warn'], ['err'], `Access failed: ${what}. The gateway tries again.`);

/**
 * Every event that programs log, by name: a name that is not here does not compile. docs/reference/log-events.md is written
 * from this table.
 */
export const LOG_EVENTS = {
  'anchor.fault': fault('a copy of a checkpoint to object storage'),
  'approvals.fault': fault('the record of approvals'),
  'bridge.failed': onBridge(['error'], ['err'], 'The bridge failed to answer a request, for a reason that is its own.'),
  'bridge.line_too_long': onBridge(
    ['warn'],
    ['bytes'],
    'The server wrote a message larger than `GW_BRIDGE_MAX_MIB`. It was dropped.',
  ),
  'bridge.no_message': onBridge(
    ['warn'],
    ['lines', 'characters'],
    'The server wrote lines to standard output that are no messages, so many by now. They were dropped.',
  ),
  'bridge.not_opened': onBridge(['fatal'], ['err'], 'The server did not answer its handshake. The bridge ends.'),
  'bridge.ready': onBridge(
    ['info'],
    ['host', 'port', 'version'],
    'The bridge serves, and its server has shaken hands.',
  ),
  'bridge.server_ended': onBridge(
    ['error', 'fatal'],
    ['code', 'signal', 'err'],
    'The server has ended, or could not be started. The bridge ends too, with status 1.',
  ),
  'bridge.stderr_dropped': onBridge(
    ['warn'],
    ['lines'],
    'The server wrote more lines to standard error than are passed on, which is 100 a second.',
  ),
  'cache.fault': fault('the response cache'),
  'call.failed': onGateway(
    ['warn'],
    ['call_id', 'code', 'err'],
    'A client received an error with a status of 500 or more.',
  ),
  'calls.abandoned': onGateway(
    ['warn'],
    ['calls'],
    'Another gateway died during these calls. This gateway wrote their rows and released their holds.',
  ),
  'checkpoint.fault': fault('a new checkpoint of the ledger'),
  'circuit.changed': onGateway(
    ['info', 'warn'],
    ['provider', 'model', 'state'],
    'The circuit breaker of an upstream changed its state; `warn` where it opened.',
  ),
  'cluster.fault': onController(
    ['warn'],
    ['kind', 'reason', 'err'],
    'The controller could not read from or write to the cluster.',
  ),
  'config.failed': onGateway(
    ['error'],
    ['err'],
    'The configuration could not be compiled, or its copy could not be stored. This is a defect or a fault of the disk.',
  ),
  'config.loaded': onGateway(['info'], ['revision', 'counts'], 'A new configuration is in force.'),
  'config.not_taken': onGateway(
    ['error'],
    ['why', 'segments'],
    'The published configuration is not applied; the one before stays in force. `why`: `unreachable`, `missing`, `older`, `forged` or `broken`.',
  ),
  'config.published': onController(['info'], ['epoch', 'seq', 'ms'], 'The controller published a configuration.'),
  'config.rejected': onGateway(
    ['error'],
    ['faults'],
    'Resources have errors. The last valid configuration stays in force.',
  ),
  'config.taken_again': onGateway(
    ['info'],
    [],
    'The published configuration is in force again after `config.not_taken`.',
  ),
  'content.fault': fault('retained content'),
  'controller.following': onController(['warn'], [], 'This controller lost the lease and stands by.'),
  'controller.leading': onController(['info'], ['epoch'], 'This controller leads.'),
  'controller.listening': onController(['info'], ['admin', 'name'], 'The admin listener of the controller is ready.'),
  'counters.restored': onGateway(
    ['info'],
    ['organization'],
    'The spend counters of an organization were missing and were rebuilt from the ledger.',
  ),
  'counters.unreachable': onGateway(
    ['warn'],
    ['err'],
    'Redis does not answer at the start. Calls are refused until it does.',
  ),
  'credential.set_aside': onGateway(
    ['warn'],
    ['provider', 'model', 'credential', 'why', 'wait_ms'],
    'A provider refused or limited a credential. The gateway does not use it for `wait_ms`.',
  ),
  'credit.fault': fault('the store of credit'),
  'detectors.used': onGateway(
    ['info'],
    ['mark', 'kinds', 'build', 'names'],
    'A set of detectors is in use for the first time. Rows name it by its `mark` (`dlp.detectors`).',
  ),
  'documents.engine_died': onGateway(
    ['warn'],
    ['code', 'signal'],
    'The document engine that this gateway started ended. The gateway starts it again.',
  ),
  'drain.ended': onGateway(
    ['info'],
    ['complete'],
    'All rows and settlements are stored (`complete`), or the time was up.',
  ),
  'drain.leaving': onGateway(
    ['info'],
    ['open_calls'],
    'The process received a signal to end. It is not ready any longer but still serves new calls for `GW_LEAVE_SECONDS`.',
  ),
  'drain.started': onGateway(
    ['info'],
    ['open_calls'],
    'The process takes no new connections. Open streams may run for `GW_DRAIN_SECONDS`.',
  ),
  'gateway.listening': onGateway(['info'], ['url', 'admin', 'embedded'], 'The gateway serves calls.'),
  'inference.listening': onEngine(
    ['info'],
    ['url'],
    'The engine listens. This is its first line, without level and time.',
  ),
  'inference.ready': onEngine(
    ['info'],
    ['small_nets'],
    'The engine can process documents. `small_nets`: languages with small models for text recognition.',
  ),
  'job.unforeseen': onEngine(['warn'], ['verb', 'cause'], 'A job failed in a way that the engine does not foresee.'),
  'jobs.fault': fault('the store of jobs'),
  'journal.begun': onGateway(['warn'], [], 'The ledger takes no rows. They wait in the journal on disk.'),
  'journal.damaged': onGateway(
    ['error'],
    ['file', 'offset'],
    'A line of the journal is unreadable. Its row is lost unless the ledger already has it.',
  ),
  'journal.ended': onGateway(['info'], [], 'The ledger has all rows of the journal.'),
  'journal.fault': fault('the journal on disk'),
  'journal.refused': onGateway(
    ['error'],
    ['rows'],
    'Rows of a dead process are not stored, since retention has already dropped the rows of their time.',
  ),
  'key.refused': onGateway(
    ['warn'],
    ['call_id', 'address', 'key', 'untold'],
    'A request had an unknown key. `untold`: such requests since the last line, which have no line of their own.',
  ),
  'ledger.fault': fault('the ledger'),
  'ledger.unreachable': onGateway(
    ['warn'],
    ['err', 'retry_ms'],
    'PostgreSQL does not answer at the start. The gateway waits.',
  ),
  'model.state': onEngine(['info'], ['model', 'fault'], 'A local model can be asked, or cannot (`fault`).'),
  'models.listed': onGateway(['debug'], ['provider', 'models'], 'A vendor listed its models.'),
  'models.not_listed': onGateway(
    ['warn'],
    ['provider', 'why'],
    'A vendor did not list its models, for a new reason. The last list, or the catalogue, stays in use.',
  ),
  'money.alert': onGateway(
    ['warn'],
    ['what', 'id', 'limit', 'percent', 'organization', 'workload', 'period', 'amount_eur', 'spent_eur', 'left_eur'],
    'A budget, a cap or credit is nearly or fully spent (`what`: `reached`), or a call was refused for it (`refused`).',
  ),
  'money.alert_undelivered': onGateway(['error'], ['id'], 'The webhook did not accept an alert.'),
  'money.drift': onGateway(
    ['error'],
    ['organization', 'scope', 'period', 'nano_eur'],
    'A spend counter differs from the ledger. One that is too low is corrected; one that is too high stays.',
  ),
  'objects.dropped': onGateway(
    ['warn'],
    ['objects'],
    'The owner of so many objects at providers could not be recorded. No workload can use them.',
  ),
  'objects.fault': fault('the record of objects at providers'),
  'pins.fault': fault('the pins of tools'),
  'prices.loaded': onGateway(
    ['info'],
    ['snapshot', 'built_at', 'models', 'differences', 'last_good'],
    'A price snapshot is in force. `last_good`: it is the stored copy, since the file is unusable.',
  ),
  'prices.old': onGateway(
    ['warn'],
    ['snapshot', 'days'],
    'The price snapshot is older than `GW_PRICES_MAX_AGE_DAYS`; logged once a day.',
  ),
  'prices.rejected': onGateway(['error'], ['why'], 'The file of prices is unusable. The snapshot in force stays.'),
  'process.died': onGateway(
    ['error'],
    ['process', 'code', 'signal', 'retry_ms'],
    'One of the processes of `GW_PROCESSES` ended by itself. Another one takes its place.',
  ),
  'process.failed': event(ALL, ['fatal'], ['err'], 'An error was not caught. The process ends with 1.'),
  'reconciler.fault': fault('the comparison of counters with the ledger'),
  'request.failed': onEngine(['error'], ['err'], 'A request failed in a way that the engine does not foresee.'),
  'settle.fault': fault('the settlement of holds'),
  'start.failed': event(ALL, ['fatal'], ['err'], 'The process could not start and ends with 1. `msg` says why.'),
  'store.fault': onController(['error'], ['reason', 'err'], 'The controller could not reach Redis.'),
  'sweep.fault': fault('the search for calls of dead processes'),
  'tool.approval': onGateway(
    ['info'],
    ['id', 'organization', 'workload', 'server', 'tool'],
    'A call of a tool waits for a person to approve it: `gwctl mcp approve` with this id.',
  ),
  'tools.changed': onGateway(
    ['info', 'warn'],
    ['organization', 'server', 'list', 'what', 'count', 'tools', 'hidden'],
    'Tools of a server (`list` `tools`), its prompts or its instructions were `pinned` for the first time, `changed`, `removed` or `returned`; `warn`: they are `quarantined` until a person accepts them. `tools`: the first of their names. `hidden`: invisible characters in their definitions.',
  ),
  'tools.listed': onGateway(
    ['debug'],
    ['list', 'server', 'tools', 'left_out'],
    'An MCP server gave a list. `tools`: how many entries it has. `left_out`: entries that break the rules of the protocol.',
  ),
  'tools.unfit': onGateway(
    ['warn'],
    ['organization', 'server', 'list', 'why', 'count', 'tools'],
    'Tools or prompts of a server are not offered and cannot be accepted: `bad_name`, `listed_twice`, `too_many` or `no_canonical_form`.',
  ),
  'tools.unlisted': onGateway(
    ['warn'],
    ['list', 'server', 'why'],
    'An MCP server that gave a list before does not give it now. Its last one is used for ten minutes.',
  ),
  'usage.implausible': onGateway(
    ['warn'],
    ['provider', 'call'],
    "A provider reported usage that cannot be true. The call is billed by the gateway's own count.",
  ),
  'worker.killed': onEngine(['warn'], ['reason'], 'The engine ended a worker thread, or a worker thread died.'),
} as const satisfies Readonly<Record<string, LogEvent>>;

type LogEventName = keyof typeof LOG_EVENTS;

/** Events that are logged at a level. */
export type EventAt<L extends LogEvent['levels'][number]> = {
  [N in LogEventName]: L extends (typeof LOG_EVENTS)[N]['levels'][number] ? N : never;
}[LogEventName];

/** Members that a line of this event may have. */
export type FactOf<N extends LogEventName> = (typeof LOG_EVENTS)[N]['facts'][number];
