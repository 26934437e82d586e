/** The words that the name of a tool or of a member is made of: `send_mail`, `sendMail` and `mcp__mail__send` are two or three. */
export function wordsOf(name: string): readonly string[] {
  return name
    .slice(0, MOST_CHARACTERS)
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
}

const MOST_CHARACTERS = 256;

/** Members that say where a call goes, whatever the tool. */
const TARGETS = new Set([
  ...['to', 'cc', 'bcc', 'recipient', 'recipients', 'receiver', 'payee', 'beneficiary', 'addressee', 'destination'],
  ...['url', 'uri', 'href', 'endpoint', 'webhook', 'host', 'hostname', 'domain', 'site', 'website'],
  ...['participant', 'participants', 'attendee', 'attendees', 'invitee', 'invitees', 'guest', 'guests'],
  ...['channel', 'channels', 'room', 'chat'],
]);
/** Members that do so where the tool sends: elsewhere they are data. */
const TARGETS_OF_SENDERS = new Set([
  ...['email', 'emails', 'mail', 'phone', 'number', 'iban', 'account', 'address', 'user', 'users', 'username'],
  ...['member', 'members', 'collaborator', 'collaborators', 'repo', 'repository', 'owner', 'with', 'target', 'group'],
]);
const SENDS = new Set([
  ...['send', 'sends', 'mail', 'email', 'message', 'msg', 'dm', 'sms', 'invite', 'share', 'forward', 'reply'],
  ...['respond', 'post', 'publish', 'notify', 'transfer', 'pay', 'payment', 'wire', 'tweet', 'upload', 'submit'],
  ...['push', 'comment', 'broadcast', 'call', 'http', 'fetch', 'request', 'webhook', 'export', 'grant', 'add'],
]);
const PUBLISHES = new Set(['tweet', 'toot', 'publish', 'broadcast', 'paste', 'pastebin', 'gist', 'blog']);
const COMMANDS = new Set([
  ...['command', 'commands', 'cmd', 'script', 'code', 'shell', 'bash', 'program', 'expression', 'js', 'javascript'],
  ...['python', 'source', 'action'],
]);
const RUNS = new Set([
  ...['bash', 'shell', 'sh', 'exec', 'execute', 'run', 'terminal', 'python', 'code', 'javascript', 'js', 'node'],
  ...['powershell', 'cmd', 'command', 'repl', 'eval', 'interpreter', 'jupyter', 'notebook', 'script'],
]);
/** Members that hold what is kept, to tools that send nothing: JSON in it says nothing of the call. */
const KEPT = new Set([
  ...['content', 'contents', 'text', 'file_text', 'old_string', 'new_string', 'old_str', 'new_str', 'old_text'],
  ...['new_text', 'insert_text', 'replacement', 'patch', 'diff'],
]);
/** Of tools that run something, members that are none of it. */
const BESIDE_COMMANDS = /path|file|dir|cwd|timeout|description|title/i;

const has = (words: readonly string[], set: ReadonlySet<string>): boolean => words.some((word) => set.has(word));

/** Whether a tool tells the public, by its name. */
export function publishes(tool: string): boolean {
  return has(wordsOf(tool), PUBLISHES);
}

/** What the members of a call are, by their names and the tool's. */
export class CallWords {
  readonly #sends: boolean;
  readonly #runs: boolean;

  constructor(tool: string) {
    const words = wordsOf(tool);
    this.#sends = has(words, SENDS);
    this.#runs = has(words, RUNS);
  }

  /** Whether it says where the call goes. `perhaps`: or tells of somebody, to a tool that sends. */
  target(name: string): 'surely' | 'perhaps' | undefined {
    const words = wordsOf(name);
    if (has(words, TARGETS)) return 'surely';
    return this.#sends && has(words, TARGETS_OF_SENDERS) ? 'perhaps' : undefined;
  }

  /** It is kept as it is: a file, a note. */
  isKept(name: string): boolean {
    return !this.#sends && !this.#runs && KEPT.has(name);
  }

  /** It is run. */
  isCommand(name: string): boolean {
    return has(wordsOf(name), COMMANDS) || (this.#runs && !BESIDE_COMMANDS.test(name));
  }
}

/** What goes over the network in a command, or in code, and goes nowhere without a host. */
const TALKS =
  /(?<![\w-])(?:curl|wget|xh|httpie|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync|ftp|tftp|socat|dig|nslookup|requests|httpx|aiohttp|urllib\d?|urlopen|axios|fetch|sendBeacon|XMLHttpRequest|WebSocket|smtplib|Invoke-WebRequest|Invoke-RestMethod|iwr|irm|Net\.WebClient|TcpClient|s_client|\/dev\/(?:tcp|udp))(?![\w-])/i;
/** What goes to a mailbox: a program where a command begins, or a library. */
const MAILS =
  /(?:^|[|;&`(\n])\s{0,8}(?:sudo )?(?:mail|mailx|sendmail|mutt|swaks|msmtp)\s|(?<![\w-])(?:smtplib|sendgrid|mailgun)(?![\w-])/i;
/** What may go elsewhere where it names a host. */
const MAY_TALK =
  /(?<![\w.-])(?:git|gh|glab|npm|pip|docker|aws|gcloud|gsutil|az|rclone|ping|host|openssl|lwp|socket|open|start|xdg-open|location)(?![\w-])/i;
/** A host that stands alone: between blanks or quotes, and no file by its ending. */
const ALONE =
  /(?<![^\s"'`=@])((?:[\p{L}\p{N}_-]{1,63}\.){1,10}\p{L}[\p{L}\p{N}-]{1,62}|(?:\d{1,3}\.){3}\d{1,3})(?::\d{1,5})?(?![^\s"'`;|&)])/gu;
const FILE =
  /\.(?:json|jsonl|txt|csv|html?|xml|ya?ml|md|py|js|mjs|cjs|ts|tsx|jsx|sh|log|pdf|png|jpe?g|gif|zip|gz|tgz|tar|sql|env|toml|ini|cfg|conf|lock|go|rs|java|rb|php|h|cpp|css|out|tmp|bak|db|pem|crt|key|path|exe)$/i;
const MOST_ALONE = 64;

/** What a command does with the network. */
export interface Talk {
  /** It goes somewhere even where nobody can tell the host. */
  readonly needsHost: boolean;
  readonly mails: boolean;
  /** Hosts that it names without an address around them. */
  readonly hosts: readonly string[];
}

/** What a command, or code, does with the network; undefined for one that stays here. */
export function talkOf(command: string): Talk | undefined {
  const needsHost = TALKS.test(command);
  const mails = MAILS.test(command);
  if (!needsHost && !mails && !MAY_TALK.test(command)) return undefined;
  const hosts: string[] = [];
  for (const [, host = ''] of command.matchAll(ALONE)) {
    if (isFileName(host)) continue;
    hosts.push(host.toLowerCase());
    if (hosts.length > MOST_ALONE) break;
  }
  return { needsHost, mails, hosts };
}

/** Whether a text that may be a host is rather a file. */
export function isFileName(text: string): boolean {
  return FILE.test(text);
}
