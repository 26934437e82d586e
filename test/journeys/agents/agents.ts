import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { notesOf, type Hands } from './scripted-model.ts';

const TOOLS = new URL('../../../', import.meta.url).pathname;
/** A session takes seconds; an agent that waits this long is stuck. */
const LONGEST_MS = 100_000;

export interface Session {
  readonly gatewayUrl: string;
  readonly key: string;
  readonly model: string;
  readonly contact: string;
  /** What it is asked to do; absent: to review the notes. */
  readonly prompt?: string;
  /** Where its MCP server is, which takes the same key; absent: it has none. */
  readonly toolsUrl?: string;
}

const PROMPT = 'Review notes.md.';

/** A coding agent as its package ships it, run without a terminal. */
export interface Agent {
  readonly name: string;
  /** Absent where it has no tools. */
  readonly hands: Hands | undefined;
  /** A model of the vendor that makes the agent, and one of another vendor. */
  readonly own: string;
  readonly other: string;
  /** The command line, and files of settings in the folder that is its home. */
  start(session: Session, home: string): Start;
}

interface Start {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, string>>;
}

const program = (name: string): string => join(TOOLS, 'tools/agents/node_modules/.bin', name);

const claudeCode: Agent = {
  name: 'Claude Code',
  own: 'anthropic/claude-sonnet-5',
  other: 'openai/gpt-5',
  hands: {
    known: 'Edit',
    read: () => ({ name: 'Read', input: { file_path: 'notes.md' } }),
    edit: (line, added) => ({
      name: 'Edit',
      input: { file_path: 'notes.md', old_string: line, new_string: `${line}\n${added}` },
    }),
    run: (command) => ({ name: 'Bash', input: { command, description: 'Look' } }),
  },
  start: ({ gatewayUrl, key, model, prompt = PROMPT, toolsUrl }) => ({
    program: program('claude'),
    args: [
      ...['-p', prompt, '--model', model, '--permission-mode', 'acceptEdits'],
      ...['--allowedTools', `Read,Edit,Bash${toolsUrl === undefined ? '' : ',mcp__gatewarden'}`],
      ...(toolsUrl === undefined ? [] : ['--strict-mcp-config', '--mcp-config', claudeServers(toolsUrl, key)]),
    ],
    env: {
      ANTHROPIC_BASE_URL: gatewayUrl,
      ANTHROPIC_AUTH_TOKEN: key,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      MAX_THINKING_TOKENS: '2048',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  }),
};

function claudeServers(url: string, key: string): string {
  const headers = { Authorization: `Bearer ${key}` };
  return JSON.stringify({ mcpServers: { gatewarden: { type: 'http', url, headers } } });
}

/** The same program as clients of clouds start it: its own format of the cloud, at the gateway instead. */
export const CLAUDE_CODE_ON: readonly Agent[] = [
  {
    cloud: 'bedrock',
    model: 'us.anthropic.claude-sonnet-5-v1:0',
    setting: (url: string) => ({ CLAUDE_CODE_USE_BEDROCK: '1', ANTHROPIC_BEDROCK_BASE_URL: url }),
    skip: { CLAUDE_CODE_SKIP_BEDROCK_AUTH: '1', AWS_REGION: 'us-east-1' },
  },
  {
    cloud: 'vertex',
    model: 'claude-sonnet-5',
    setting: (url: string) => ({ CLAUDE_CODE_USE_VERTEX: '1', ANTHROPIC_VERTEX_BASE_URL: `${url}/v1` }),
    skip: { CLAUDE_CODE_SKIP_VERTEX_AUTH: '1', ANTHROPIC_VERTEX_PROJECT_ID: 'any', CLOUD_ML_REGION: 'europe-west1' },
  },
].map(({ cloud, model, setting, skip }) => ({
  ...claudeCode,
  name: `Claude Code, in the format of ${cloud}`,
  own: model,
  other: 'openai/gpt-5',
  start: (session, home) => {
    const started = claudeCode.start(session, home);
    const { ANTHROPIC_BASE_URL: url = '', ...env } = started.env ?? {};
    return { ...started, env: { ...env, ...setting(url), ...skip } };
  },
}));

const codex: Agent = {
  name: 'Codex',
  own: 'openai/gpt-5',
  other: 'anthropic/claude-sonnet-5',
  hands: {
    known: 'exec_command',
    read: () => ({ name: 'exec_command', input: { cmd: 'cat notes.md' } }),
    edit: (line, added) => ({ name: 'exec_command', input: { cmd: `sed -i '/^${line}$/a ${added}' notes.md` } }),
    run: (cmd) => ({ name: 'exec_command', input: { cmd } }),
  },
  start: ({ gatewayUrl, key, model, prompt = PROMPT, toolsUrl }, home) => ({
    program: program('codex'),
    args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-m', model, prompt],
    env: { GATEWAY_KEY: key, CODEX_HOME: home },
    settings: {
      'config.toml': [
        'model_provider = "gateway"',
        'model_reasoning_effort = "medium"',
        '[model_providers.gateway]',
        'name = "gateway"',
        `base_url = "${gatewayUrl}/v1"`,
        'env_key = "GATEWAY_KEY"',
        'wire_api = "responses"',
        ...(toolsUrl === undefined
          ? []
          : ['[mcp_servers.gatewarden]', `url = "${toolsUrl}"`, 'bearer_token_env_var = "GATEWAY_KEY"']),
      ].join('\n'),
    },
  }),
};

const opencode: Agent = {
  name: 'opencode',
  own: 'openai/gpt-5',
  other: 'mistral/mistral-large-latest',
  hands: {
    known: 'read',
    read: () => ({ name: 'read', input: { filePath: 'notes.md' } }),
    // Models of one vendor get a tool of patches instead of the one that replaces.
    edit: (line, added, tools) =>
      tools.has('edit')
        ? { name: 'edit', input: { filePath: 'notes.md', oldString: line, newString: `${line}\n${added}` } }
        : { name: 'apply_patch', input: { patchText: patch(line, added) } },
    run: (command) => ({ name: 'bash', input: { command, description: 'Look' } }),
  },
  start: ({ gatewayUrl, key, model, prompt = PROMPT, toolsUrl }) => ({
    program: program('opencode'),
    args: ['run', '-m', `gateway/${model}`, '--auto', prompt],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    settings: {
      'opencode.json': JSON.stringify({
        autoupdate: false,
        share: 'disabled',
        permission: { edit: 'allow', bash: 'allow' },
        ...(toolsUrl !== undefined && {
          mcp: { gatewarden: { type: 'remote', url: toolsUrl, headers: { Authorization: `Bearer ${key}` } } },
        }),
        provider: {
          gateway: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${gatewayUrl}/v1`, apiKey: key },
            models: { [model]: { name: model } },
          },
        },
      }),
    },
  }),
};

function patch(line: string, added: string): string {
  return ['*** Begin Patch', '*** Update File: notes.md', '@@', ` ${line}`, `+${added}`, '*** End Patch'].join('\n');
}

/** It has no tools: what is to be edited stands in its prompt, and how in the answer. */
const aider: Agent = {
  name: 'aider',
  own: 'openai/gpt-5',
  other: 'anthropic/claude-sonnet-5',
  hands: undefined,
  start: ({ gatewayUrl, key, model }) => ({
    program: join(TOOLS, '.tools/aider/bin/aider'),
    args: [
      ...['--model', `openai/${model}`, '--edit-format', 'diff', '--message', PROMPT, '--yes-always', '--no-git'],
      ...['--no-show-model-warnings', '--no-check-update', '--analytics-disable', '--map-tokens', '0', '--no-pretty'],
      ...['--no-detect-urls', '--no-suggest-shell-commands', 'notes.md'],
    ],
    env: { OPENAI_API_BASE: `${gatewayUrl}/v1`, OPENAI_API_KEY: key, LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
  }),
};

export const AGENTS: readonly Agent[] = [claudeCode, codex, opencode, aider];

export interface Ended {
  readonly code: number | string | null;
  readonly said: string;
  readonly errors: string;
  /** What the notes read like afterwards. */
  readonly notes: string;
  readonly seconds: number;
}

/** Runs an agent in a folder with the notes, and nothing of the machine's own settings. */
export function work(agent: Agent, session: Session): Promise<Ended> {
  const [folder, home] = ['work', 'home'].map((name) => mkdtempSync(join(tmpdir(), `gatewarden-agent-${name}-`)));
  writeFileSync(join(folder!, 'notes.md'), notesOf(session.contact));
  const { program: file, args, env = {}, settings = {} } = agent.start(session, home!);
  for (const [name, text] of Object.entries(settings)) {
    for (const place of [home!, folder!]) writeFileSync(join(place, name), text);
  }
  mkdirSync(join(home!, '.config'), { recursive: true });
  const began = performance.now();
  return new Promise((resolve) => {
    const child = execFile(
      file,
      [...args],
      {
        cwd: folder,
        timeout: LONGEST_MS,
        maxBuffer: 16 * 1024 * 1024,
        env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: join(home!, '.config'), NO_COLOR: '1', ...env },
      },
      (error, said, errors) => {
        const notes = readFileSync(join(folder!, 'notes.md'), 'utf8');
        const seconds = (performance.now() - began) / 1000;
        for (const one of [folder!, home!]) rmSync(one, { recursive: true, force: true });
        resolve({ code: error ? (error.code ?? error.signal ?? null) : 0, said, errors, notes, seconds });
      },
    );
    child.stdin?.end();
  });
}
