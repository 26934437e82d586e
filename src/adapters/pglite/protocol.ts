/** What the session server has to know of PostgreSQL's frontend protocol. */

/** `partial`: more bytes are needed. */
export type Startup = 'partial' | 'encryption' | 'cancel' | { readonly bytes: number };

const SSL_REQUEST = 80877103;
const GSS_REQUEST = 80877104;
const CANCEL_REQUEST = 80877102;
/** What PostgreSQL itself allows. */
const MAX_STARTUP_BYTES = 10_000;
const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/** Looks at the first bytes of a connection, which carry no type. Throws on what no client sends. */
export function readStartup(buffer: Buffer): Startup {
  if (buffer.length < 8) return 'partial';
  const bytes = buffer.readInt32BE(0);
  const code = buffer.readInt32BE(4);
  if (code === CANCEL_REQUEST) return 'cancel';
  if (bytes < 8 || bytes > MAX_STARTUP_BYTES) throw new RangeError('not a PostgreSQL client');
  if (code === SSL_REQUEST || code === GSS_REQUEST) return 'encryption';
  return buffer.length < bytes ? 'partial' : { bytes };
}

/**
 * Length of the message that begins at `at`, its type included, or undefined when it is not all there. Throws on a type
 * that no client sends once it has started: on such, the backend ends for good.
 */
export function messageLength(buffer: Buffer, at: number): number | undefined {
  if (buffer.length - at < 5) return undefined;
  const bytes = buffer.readInt32BE(at + 1) + 1;
  const known = TYPES.includes(String.fromCharCode(buffer[at]!));
  if (!known || bytes < 5 || bytes > MAX_MESSAGE_BYTES) throw new RangeError('not a PostgreSQL message');
  return buffer.length - at < bytes ? undefined : bytes;
}

/** Types of CopyData, CopyDone and CopyFail. */
export const COPY_TYPES = 'dcf';
/** Those, and Query, Parse, Bind, Describe, Execute, Close, Sync, Flush and Terminate. */
const TYPES = `QPBDECSHX${COPY_TYPES}`;
/** Type of the message that ends a connection. */
export const TERMINATE = 'X';
export const QUERY = 'Q';
/** Type of the message that asks for answers without ending the cycle. */
export const FLUSH = 'H';

/** Whether the server answers all that was sent so far once it has this message: Query, Sync, Flush. */
export function endsCycle(type: string): boolean {
  return type === QUERY || type === 'S' || type === FLUSH;
}

/**
 * The message with `prefix` before the name of the prepared statement it is about; unnamed ones are left alone.
 * `name` is the new name, when there is one.
 */
export function renameStatement(
  original: Buffer,
  prefix: string,
): { readonly message: Buffer; readonly name?: string } {
  const at = statementNameAt(original);
  const end = at === undefined ? -1 : original.indexOf(0, at);
  // Also when it is malformed: the backend says so.
  if (at === undefined || end <= at) return { message: original };
  const name = `${prefix}${original.toString('utf8', at, end)}`;
  const renamed = Buffer.concat([original.subarray(0, at), Buffer.from(prefix), original.subarray(at)]);
  renamed.writeInt32BE(renamed.length - 1, 1);
  return { message: renamed, name };
}

/** A Close message for a prepared statement. */
export function closeStatement(name: string): Buffer {
  return message('C', `S${name}\0`);
}

export function simpleQuery(sql: string): Buffer {
  return message(QUERY, `${sql}\0`);
}

/**
 * Ends a COPY FROM STDIN, for which the backend would wait in vain; ignored at any other time. After a Query, and before
 * the message that ends a cycle of the extended protocol.
 */
export const COPY_FAIL = message('f', 'COPY FROM STDIN does not work over this socket\0');

export const SYNC = message('S', '');

/** What every session is started with in the backend, whatever its client asked for: there is one user and one database. */
export const STARTUP = startup({ user: 'postgres', database: 'postgres', client_encoding: 'UTF8' });

/** An ErrorResponse that ends the connection. */
export function fatal(sqlState: string, text: string): Buffer {
  return message('E', `SFATAL\0VFATAL\0C${sqlState}\0M${text}\0\0`);
}

function startup(parameters: Readonly<Record<string, string>>): Buffer {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}\0${value}\0`);
  const bytes = Buffer.from(`\0\0\0\0\0\x03\0\0${pairs.join('')}\0`);
  bytes.writeInt32BE(bytes.length, 0);
  return bytes;
}

function message(type: string, body: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${body}`);
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}

/** Where a Parse, Bind, Describe or Close message names a prepared statement. */
function statementNameAt(bytes: Buffer): number | undefined {
  switch (String.fromCharCode(bytes[0]!)) {
    case 'P':
      return 5;
    case 'B': {
      const afterPortal = bytes.indexOf(0, 5) + 1;
      return afterPortal === 0 ? undefined : afterPortal;
    }
    case 'D':
    case 'C':
      return bytes[5] === 0x53 ? 6 : undefined;
    default:
      return undefined;
  }
}
