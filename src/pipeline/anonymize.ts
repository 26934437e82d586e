import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import { documentError } from '#/errors/document-error.ts';
import { GatewayError, restarting } from '#/errors/gateway-error.ts';
import type { AnonymizeOptions } from '#/inspect/attachments/anonymize-options.ts';
import { findInDocument, replaced, tagsFor, type DocumentFindings } from '#/inspect/attachments/document-text.ts';
import { categoriesOf, notLookedFor } from '#/inspect/entities.ts';
import { detectionFor } from '#/inspect/detection.ts';
import { refuseUnguarded } from '#/inspect/scope/scope-guard.ts';
import { lookAgain, originalsOf } from '#/inspect/attachments/second-look.ts';
import { hold } from '#/meter/meter.ts';
import type { JobProgress } from '#/ports/document-jobs.ts';
import {
  DocumentFault,
  engineOff,
  type DocumentFile,
  type OnPages,
  type ReadDocument,
  type RedactedDocument,
} from '#/ports/documents.ts';
import { routeLocal } from '#/route/route.ts';
import type { Target } from '#/call/target.ts';
import { NO_USAGE } from '#/wire/answer/usage.ts';
import { answerTimeout, refuseBeforeReading } from './admit.ts';
import { Stopped, type CallFacts } from '#/call/facts.ts';
import { ServerRestarting, type CallContext } from '#/call/call.ts';
import type { Limits } from '#/ports/limit-counters.ts';
import { unitsAtMost, type UnitsAtMost } from './anonymize/document-units.ts';
import { fileNameOf } from '#/inspect/attachments/file-name.ts';
import type { PipelineParts } from './pipeline-parts.ts';
import { Steps, type CallStart, type Stated } from './run-call.ts';

/** An uploaded document, and how to anonymize it. */
export interface Upload {
  readonly file: DocumentFile;
  readonly options: AnonymizeOptions;
}

/** A request whose caller is known; its body is still to be read. */
export interface AnonymizeRequest extends CallContext {
  /** Throws `invalid_request` or `request_too_large`. */
  upload(): Promise<Upload>;
  /** Of a job; absent where a client waits. */
  readonly lasting?: Lasting;
}

/** How a document is worked on that no client waits for. */
interface Lasting {
  readonly timeoutMs: number;
  readonly onProgress: (progress: JobProgress) => void;
  /** Keeps the result of the work before the call is sealed. Rejects when it cannot: then it is not billed. */
  readonly keep: (document: AnonymizedDocument) => Promise<void>;
  /** Whether the call goes on another time: then nothing is sealed now. */
  readonly goesOn: (error: GatewayError) => boolean;
}

/** The result. // spec 2.5 */
export interface AnonymizedDocument extends Pick<RedactedDocument, 'bytes' | 'mediaType' | 'downgraded'> {
  /** Without personal data too. */
  readonly filename: string;
  readonly pages: number;
  readonly images: number;
  /** In capitals, sorted. */
  readonly categories: readonly string[];
  /** Undefined unless it was asked for. */
  readonly mapping: DocumentFindings['mapping'] | undefined;
  /** Kinds of personal data that were not searched for although none was named. */
  readonly unscanned: readonly string[];
  readonly limits: Limits;
}

/** What the work is called in allow-lists, price books and audit rows. */
const MODEL = 'anonymize';
export const MODEL_ID = `${LOCAL_PROVIDER.slug}/${MODEL}`;
const ASKED = { model: MODEL_ID, stream: false };
const TARGET = { provider: LOCAL_PROVIDER.slug, model: MODEL, jurisdiction: 'LOCAL', family: 'documents' } as const;
/** The name of a file is searched like the rest of it; no unit of a document has this id. */
const NAME_UNIT = 'gw:filename';
/** Where documents are submitted as background jobs. */
export const JOBS_PATH = '/v1/documents/anonymize/jobs';

/**
 * A document's way: debited by the pages it may have before it is read, read, searched, rewritten; sealed, and settled by
 * the pages it has. Nothing is kept. Work that gives no document is not billed. // spec 1.1, 2.5, 8
 */
export const ANONYMIZATION = documentSteps().step('dispatch', handOver);

/** The way of a document that no client waits for (`Lasting`): its result is kept before the call is sealed. */
export const DOCUMENT_JOB = documentSteps().step('dispatch', keep);

function documentSteps() {
  return new Steps<PipelineParts, CallStart<AnonymizeRequest>>()
    .step('admit', admitRequest)
    .step('admit', readUpload)
    .step('route', routeHere)
    .step('meter', holdMoney)
    .step('dispatch', anonymizeDocument);
}

interface Admitted extends CallStart<AnonymizeRequest> {
  readonly timeoutMs: number;
}

function admitRequest({ request }: CallStart<AnonymizeRequest>): Stated<Pick<Admitted, 'timeoutMs'>> {
  refuseBeforeReading(request);
  const timeoutMs = request.lasting?.timeoutMs ?? answerTimeout(request);
  return { timeoutMs, facts: { asked: ASKED } };
}

interface Read extends Admitted {
  readonly upload: Upload;
  /** Kinds of personal data that are looked for. */
  readonly categories: ReadonlySet<string>;
}

async function readUpload(
  { request }: Admitted,
  { detection }: PipelineParts,
): Promise<Stated<Pick<Read, 'upload' | 'categories'>>> {
  try {
    const upload = await request.upload();
    const { entities, remove, within: at = 'options' } = upload.options;
    refuseUnguarded(request.key.workload.policy);
    const findable = detection.categories;
    const categories = categoriesOf(entities, findable, `${at}.entities`) ?? findable;
    return { upload, categories, facts: { removed: remove.map(({ label }) => label) } };
  } catch (thrown) {
    throw explain(thrown, request.signal);
  }
}

function routeHere({ request }: Read, parts: PipelineParts): Stated<{ readonly target: Target }> {
  const { targets, route, shadow } = routeLocal(MODEL_ID, request.key.workload, parts);
  return { target: targets[0], facts: { route, shadow } };
}

interface Metered extends Read {
  readonly limits: Limits;
  readonly units: UnitsAtMost;
}

async function holdMoney(
  { request, upload, target }: Read & { readonly target: Target },
  parts: PipelineParts,
): Promise<Stated<Pick<Metered, 'limits' | 'units'>>> {
  parts.writer.requireRoom();
  const units = unitsAtMost(upload.file.bytes);
  const { unit, most } = units;
  const bounds = { ceiling: { [unit]: most }, quantities: [unit], reservedTokens: 0 };
  const asked = { ...ASKED, resumes: request.lasting !== undefined };
  const held = await hold(request, asked, [target], bounds, parts.meter);
  return { limits: held.limits, units, facts: { hold: held.money } };
}

interface Anonymized extends Metered {
  readonly anonymized: AnonymizedDocument;
  /** That were read, and are billed. */
  readonly pages: number;
}

/** Reads, searches, rewrites. The matches are stated, whatever fails later. */
async function anonymizeDocument(
  work: Metered,
  parts: PipelineParts,
): Promise<Stated<Pick<Anonymized, 'anonymized' | 'pages'>>> {
  const { request, upload, timeoutMs, limits } = work;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const signal = AbortSignal.any([request.signal, late.signal]);
  const until = request.lasting ? undefined : performance.now() + timeoutMs;
  let facts: CallFacts = { target: TARGET };
  const state = (more: CallFacts): void => void (facts = { ...facts, ...more });
  try {
    const { document, found, filename, pages } = await rewritten(work, until, parts, signal, state);
    const anonymized = {
      ...document,
      filename,
      categories: Object.keys(found.findings).sort(),
      mapping: upload.options.includeMapping ? found.mapping : undefined,
      unscanned: facts.unscanned ?? [],
      limits,
    };
    return { anonymized, pages, facts };
  } catch (thrown) {
    throw new Stopped(explain(thrown, request.signal, late.signal), facts);
  } finally {
    clearTimeout(timer);
  }
}

/** Bills the document, unless its client hung up meanwhile. */
function handOver(work: Anonymized): Stated<object> {
  return { facts: { ...billed(work), isServed: !work.request.signal.aborted } };
}

/** A kept document can be fetched, and is billed. One that cannot be kept is not billed. */
async function keep(work: Anonymized): Promise<Stated<object>> {
  const { request, anonymized } = work;
  try {
    await request.lasting?.keep(anonymized);
  } catch (thrown) {
    throw explain(thrown, request.signal);
  }
  return { facts: { ...billed(work), isServed: true } };
}

function billed({ pages, units }: Anonymized): CallFacts {
  return { isAnswering: true, usage: NO_USAGE, units: { [units.unit]: pages } };
}

interface Done {
  readonly document: RedactedDocument;
  readonly found: DocumentFindings;
  readonly filename: string;
  readonly pages: number;
}

/**
 * `until`: when its client stops waiting, by `performance.now()`. `state`: receives the matches before anything can
 * fail.
 */
async function rewritten(
  { request: { key, lasting }, upload: { file, options }, categories, units: { most } }: Metered,
  until: number | undefined,
  { documents: engine, detection: whole, detectors }: PipelineParts,
  signal: AbortSignal,
  state: (facts: CallFacts) => void,
): Promise<Done> {
  if (!engine) throw engineOff();
  const detection = detectionFor({ key, signal }, whole);
  const wanting = { recognize: 'auto' as const, ...within(until) };
  const read = await engine.read(file, wanting, signal, begun('reading', undefined, lasting));
  refuseMore(read, most);
  const { pages } = read;
  lasting?.onProgress({ phase: 'reading', pages, pagesDone: pages });
  const terms = [...key.workload.policy.dlp.customTerms, ...options.remove];
  const name = fileNameOf(file.name);
  const units = [...read.units, { id: NAME_UNIT, text: name.searched, visibility: 'hidden' as const }];
  const { recognizedPages } = read;
  const tags = tagsFor(units);
  const found = await findInDocument(units, { categories, terms, recognizedPages }, detection, tags);
  state({ findings: found.findings, detectors: detectors.ofKinds(categories) });
  if (!options.entities) state({ unscanned: notLookedFor(categories) });
  const inside = found.replacements.filter(({ unit }) => unit !== NAME_UNIT);
  const { replacements } = found;
  const originals = originalsOf(found, read, terms);
  const wanted = { layout: read.layout, replacements: inside, originals, ...within(until) };
  const document = await engine.redact(file, wanted, signal, begun('rewriting', pages, lasting));
  const ofName = replacements.filter(({ unit }) => unit === NAME_UNIT);
  const done = { filename: name.with(replaced(name.searched, ofName)), pages };
  if (recognizedPages.length === 0) return { document, found, ...done };
  const looking = { engine, detection, tags, signal, onPages: begun('checking', pages, lasting) };
  const again = await lookAgain({ document, found }, { categories, terms }, looking);
  state({ findings: again.found.findings });
  return { ...again, ...done };
}

/** How long the client still waits. */
function within(until: number | undefined): { readonly withinMs?: number } {
  return until === undefined ? {} : { withinMs: Math.max(0, until - performance.now()) };
}

/** Reports the start of a phase; the result reports its pages. Undefined if progress is not needed. */
function begun(
  phase: JobProgress['phase'],
  pages: number | undefined,
  lasting: Lasting | undefined,
): OnPages | undefined {
  if (!lasting) return undefined;
  lasting.onProgress({ phase, pages, pagesDone: 0 });
  return (pagesDone, of) => lasting.onProgress({ phase, pages: of, pagesDone });
}

/** The debited pages must be enough: a file with more pages than its size allows is suspicious. */
function refuseMore({ pages }: ReadDocument, most: number): void {
  if (pages <= most) return;
  throw new DocumentFault('too_many_pages', 'the document has more pages than its size allows: split it');
}

function asJob(fault: DocumentFault): DocumentFault {
  const message = `${fault.message}: submit it as a job with POST ${JOBS_PATH}, or split it`;
  return new DocumentFault('too_slow', message, { cause: fault });
}

function explain(thrown: unknown, given: AbortSignal, late?: AbortSignal): unknown {
  if (given.aborted) return given.reason instanceof ServerRestarting ? restarting() : thrown;
  if (thrown instanceof DocumentFault && thrown.kind === 'too_slow') return documentError(asJob(thrown), 'file');
  if (thrown instanceof DocumentFault) return documentError(thrown, 'file');
  if (late?.aborted !== true) return thrown;
  return new GatewayError('upstream_timeout', 'The document could not be processed within the answer timeout.');
}
