import { hash } from 'node:crypto';
import type { ProviderConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Call, CallContext } from '#/call/call.ts';
import type { Slices } from '#/runtime/loop-slices.ts';
import type { KeptObject, KeptObjects, KeptQuery } from '#/ports/kept-objects.ts';
import type { KeptMade } from '#/wire/kept/find-made.ts';
import { nameSteps, namesInText, paramOf, withIds, withoutPrefix, type KeptName } from '#/wire/kept/names.ts';
import { isLarge } from '#/wire/document/large-text.ts';
import { readAnew } from '../relay/read-anew.ts';
import { ObjectRecorder } from './object-recorder.ts';
import type { Target, Candidate, Candidates } from '#/call/target.ts';

/** Who asks. */
export type Asker = Pick<CallContext, 'key'>;
/** What a call asks with. */
type Claimant = Asker & Pick<Call, 'slices'>;

/** An id with its kind, and where the request names it. */
export type Claim = Pick<KeptName, 'id' | 'kind'> & Partial<Pick<KeptName, 'replaceable'>> & { readonly param: string };

/** Told of a store that cannot be reached, and of objects that could not be recorded. */
export type OwnershipEvent =
  | { readonly kind: 'objects.fault'; readonly error: unknown }
  | { readonly kind: 'objects.dropped'; readonly objects: number };

const DAY_MS = 24 * 60 * 60 * 1000;
/** As long as providers keep what they make on the way. */
const KEPT_MS = 31 * DAY_MS;
/** Providers keep files until they are deleted. */
const FILES_KEPT_MS = 730 * DAY_MS;

/** Most objects that one request may name. */
const MAX_NAMED = 500;
/** An id as vendors make them. Whatever else stands in its place names nothing that was recorded. */
const PROVIDER_ID = /^[\w.:/+=-]{1,512}$/;

/**
 * Ownership of objects that providers store. An object made through the gateway is recorded for its workload,
 * and only that workload can name it. On its own accounts an organization may share objects among its workloads,
 * including those made elsewhere. The check covers the body that is sent, for the provider that receives it.
 */
export class Ownership {
  readonly #store: KeptObjects;
  readonly #recorder: ObjectRecorder;
  readonly #onFault: (error: unknown) => void;

  constructor(store: KeptObjects, onEvent: (event: OwnershipEvent) => void) {
    this.#store = store;
    const onFault = (error: unknown): void => onEvent({ kind: 'objects.fault', error });
    this.#onFault = onFault;
    const onDropped = (objects: number): void => onEvent({ kind: 'objects.dropped', objects });
    this.#recorder = new ObjectRecorder({ store, onFault, onDropped });
  }

  /**
   * The candidates whose bodies name nothing but what the asker may name, with ids as their provider knows them. Throws
   * `not_found`, `permission_denied` or `invalid_request` where none is left, and `objects_unavailable`.
   */
  claim(
    asker: Claimant,
    plan: Candidates,
    onLeftOut: (target: Target, why: string) => void,
  ): Candidates | Promise<Candidates> {
    if (asker.slices) return this.#claimInTurns(asker, asker.slices, plan, onLeftOut);
    const named: (readonly KeptName[])[] = [];
    let isAnyNamed = false;
    for (const { family, body } of plan) {
      const names = namesInText(family, body);
      isAnyNamed ||= names.length > 0;
      named.push(names);
    }
    return isAnyNamed ? this.#claim(asker, plan, named, onLeftOut) : plan;
  }

  async #claimInTurns(
    asker: Asker,
    slices: Slices,
    plan: Candidates,
    onLeftOut: (target: Target, why: string) => void,
  ): Promise<Candidates> {
    const named: (readonly KeptName[])[] = [];
    for (const { family, body } of plan) {
      if (isLarge(body)) named.push(await slices.run(nameSteps(family, (await readAnew(family, body, slices)).body)));
      else named.push(namesInText(family, body));
      await slices.next();
    }
    return this.#claim(asker, plan, named, onLeftOut);
  }

  async #claim(
    asker: Asker,
    plan: Candidates,
    named: readonly (readonly KeptName[])[],
    onLeftOut: (target: Target, why: string) => void,
  ): Promise<Candidates> {
    let refusal: GatewayError | undefined;
    const left: Candidate[] = [];
    for (const [index, candidate] of plan.entries()) {
      try {
        left.push(await this.#claimed(asker, candidate, named[index]!));
      } catch (thrown) {
        if (!(thrown instanceof GatewayError) || thrown.code === 'objects_unavailable') throw thrown;
        refusal ??= thrown;
        onLeftOut(candidate, 'the request names an object that the workload did not create there');
      }
    }
    const [first, ...rest] = left;
    if (!first) throw refusal!;
    return [first, ...rest];
  }

  async #claimed(asker: Asker, candidate: Candidate, names: readonly KeptName[]): Promise<Candidate> {
    const { family, body, provider } = candidate;
    if (names.length === 0) return candidate;
    const { config } = provider;
    const { account, others } = await this.#theirs(asker, config, names.map(claimOf));
    const text = withIds(family, body, names, ({ id, replaceable }) =>
      replaceable && others.has(id) ? nobodys(id) : withoutPrefix(id, config.slug),
    );
    return { ...candidate, body: text, ...(account !== undefined && { account }) };
  }

  /**
   * Refuses ids that the asker may not name at this provider. Resolves with the credential that the objects were made with,
   * where the provider has several.
   */
  async check(asker: Asker, config: ProviderConfig, claims: readonly Claim[]): Promise<string | undefined> {
    return (await this.#theirs(asker, config, claims)).account;
  }

  /** As `check`; `others`: ids that are not the asker's, in places where they can be replaced. */
  async #theirs(
    { key }: Asker,
    config: ProviderConfig,
    claims: readonly Claim[],
  ): Promise<{ readonly account?: string | undefined; readonly others: ReadonlySet<string> }> {
    const others = new Set<string>();
    const managed = config.keyOwnership === 'managed';
    const known = claims.filter(({ kind }) => kind !== 'unknown');
    if (managed) refuseUnknown(claims, config);
    if (known.length === 0) return { others };
    if (known.length > MAX_NAMED) {
      throw new GatewayError('invalid_request', `A request may name at most ${MAX_NAMED} objects.`);
    }
    const { organization, id: workload } = key.workload;
    const shared = !managed && organization.sharedObjects === 'organization';
    const ids = known.map((claim) => ownId(claim, config));
    const asked = [...new Set(ids.filter((id) => PROVIDER_ID.test(id)))];
    const found = new Map((await this.find(config, asked)).map((one) => [one.id, one]));
    for (const [index, claim] of known.entries()) {
      const record = found.get(ids[index]!);
      const isTheirs = record
        ? record.organization === organization.id && (shared || record.workload === workload)
        : shared;
      if (!isTheirs && claim.replaceable !== true) throw notTheirs(claim, config);
      if (!isTheirs) others.add(claim.id).add(ids[index]!);
    }
    const named = [...found.values()].filter(({ id }) => !others.has(id));
    return { account: accountOf(named, config), others };
  }

  /**
   * The slug of the organization's own provider on which something was made that the asker may name. Throws `not_found` where
   * the object does not exist, and `objects_unavailable`.
   */
  async providerOf({ key }: Asker, { kind, id, param }: Claim): Promise<string> {
    const { organization, id: workload } = key.workload;
    const own = [...organization.providers.values()].filter(({ keyOwnership }) => keyOwnership === 'organization');
    const isTheirs = (record: KeptObject): boolean =>
      record.organization === organization.id &&
      (record.workload === workload || organization.sharedObjects === 'organization');
    if (PROVIDER_ID.test(id)) {
      for (const config of own) if ((await this.find(config, [id])).some(isTheirs)) return config.slug;
    }
    const message =
      `This workload has created no ${kind} with this id on the organization's own accounts. ` +
      'If the organization has sharedObjects: Organization, name the provider in x-gw-provider to use objects created elsewhere.';
    throw new GatewayError('not_found', message, { param });
  }

  /** Those of these objects that are recorded. Throws `objects_unavailable`. */
  async find(config: ProviderConfig, ids: readonly string[]): Promise<readonly KeptObject[]> {
    return ids.length === 0 ? [] : this.#asked(() => this.#store.find(config.id, ids, Date.now()));
  }

  /** A page of what a workload has made. Throws `objects_unavailable`. */
  async list(query: KeptQuery): Promise<readonly KeptObject[]> {
    return this.#asked(() => this.#store.list(query, Date.now()));
  }

  /** Throws `objects_unavailable` where it could not be recorded whose an object is that is to be made. */
  async requireRecords(config: ProviderConfig): Promise<void> {
    if (!this.#recorder.well) await this.#asked(() => this.#store.find(config.id, ['-'], Date.now()));
  }

  /** Records created objects for a workload. Resolves when the answer may be sent. */
  made({ key }: Asker, config: ProviderConfig, credential: string, objects: readonly KeptMade[]): Promise<void> {
    const madeAt = Date.now();
    const { organization, id: workload } = key.workload;
    const records = objects.flatMap(({ kind, id }): readonly KeptObject[] => {
      if (!PROVIDER_ID.test(id)) return [];
      const expiresAt = madeAt + (kind === 'file' ? FILES_KEPT_MS : KEPT_MS);
      return [
        { provider: config.id, id, kind, organization: organization.id, workload, credential, madeAt, expiresAt },
      ];
    });
    return this.#recorder.record(records);
  }

  /** An object was deleted. That its record stays does no harm. */
  async deleted(config: ProviderConfig, id: string): Promise<void> {
    await this.#store.forget(config.id, id).catch(this.#onFault);
  }

  get pending(): number {
    return this.#recorder.pending;
  }

  drain(deadlineMs: number): Promise<void> {
    return this.#recorder.drain(deadlineMs);
  }

  stop(): void {
    this.#recorder.stop();
  }

  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (cause) {
      this.#onFault(cause);
      const message = 'The owner of the object cannot be looked up at the moment. Nothing was sent. Try again.';
      throw new GatewayError('objects_unavailable', message);
    }
  }
}

/** What a place of a body claims. */
export function claimOf({ id, kind, replaceable, at }: KeptName): Claim {
  return { id, kind, replaceable, param: paramOf(at) };
}

/** The id as the provider knows it; with another provider's prefix it stays unchanged and has no owner here. */
function ownId({ id }: Claim, { slug }: ProviderConfig): string {
  return withoutPrefix(id, slug) ?? id;
}

/** An id that names nothing, always the same: cached prompts stay cached. */
function nobodys(id: string): string {
  return `${/^[a-z]{1,8}_/.exec(id)?.[0] ?? ''}${hash('sha256', `gatewarden nobody's ${id}`, 'hex')}`;
}

/** An id of unknown kind could name an object of another organization on the account. */
function refuseUnknown(claims: readonly Claim[], { slug }: ProviderConfig): void {
  const unknown = claims.find(({ kind }) => kind === 'unknown');
  if (unknown === undefined) return;
  const message = `${unknown.param} may name an object on the account of ${slug}, which is not the organization's own. Remove it.`;
  throw new GatewayError('invalid_request', message, { param: unknown.param });
}

function notTheirs({ kind, param, id }: Claim, { slug, keyOwnership }: ProviderConfig): GatewayError {
  const managed = keyOwnership === 'managed';
  if (id === '') {
    const message = `${param} needs the organization's own account, with sharedObjects: Organization.`;
    return new GatewayError('permission_denied', message, { param });
  }
  const rule = managed
    ? 'On a managed account, a workload can use only objects that it created through the gateway.'
    : 'Objects created elsewhere can be used if the organization has sharedObjects: Organization.';
  return new GatewayError('not_found', `This workload has created no ${kind} with this id on ${slug}. ${rule}`, {
    param,
  });
}

/** The credential of objects, where it matters. Throws `invalid_request` where they are on several accounts. */
function accountOf(records: readonly KeptObject[], { credentials, slug }: ProviderConfig): string | undefined {
  if (credentials.length <= 1) return undefined;
  const accounts = new Set(records.map(({ credential }) => credential));
  if (accounts.size > 1) {
    throw new GatewayError(
      'invalid_request',
      `The request names objects of several accounts with ${slug}. Send one request per account.`,
    );
  }
  return [...accounts][0];
}
