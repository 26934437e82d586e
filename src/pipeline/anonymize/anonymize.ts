import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { CustomTerm } from '#/config/snapshot.ts';
import { documentError } from '#/errors/document-error.ts';
import { asGatewayError, GatewayError } from '#/errors/gateway-error.ts';
import { findInDocument, replaced, tagsFor, type DocumentFindings } from '#/inspect/attachments/document-text.ts';
import { categoriesOf, notLookedFor } from '#/inspect/entities.ts';
import { detectionFor, type Detection } from '#/inspect/detectors/detector.ts';
import type { DetectorMarks } from '#/inspect/detectors/detector-marks.ts';
import { refuseUnguarded } from '#/inspect/scope/scope-guard.ts';
import { lookAgain, originalsOf } from '#/inspect/attachments/second-look.ts';
import type { Debited, Hold } from '#/meter/meter.ts';
import type { JobProgress } from '#/ports/document-jobs.ts';
import {
  DocumentFault,
  engineOff,
  type DocumentEngine,
  type DocumentFile,
  type OnPages,
  type ReadDocument,
  type RedactedDocument,
} from '#/ports/documents.ts';
import { restarting } from '#/dispatch/dispatch.ts';
import type { Target } from '#/call/target.ts';
import type { Entry } from '#/seal/call-record.ts';
import { NO_USAGE } from '#/wire/answer/usage.ts';
import { answerTimeout, refuseAtTheDoor } from '../admit.ts';
import { ServerRestarting, type Limits, type Opening } from '#/call/call.ts';
import { unitsAtMost } from './document-units.ts';
import { fileNameOf } from '#/inspect/attachments/file-name.ts';
import type { PassageDemand } from '../passthrough/passthrough.ts';

/** What a client asks to be taken out of a document. // spec 2.5 */
export interface AnonymizeOptions {
  /** Kinds in lower case; undefined: all that can be found. */
  readonly entities: readonly string[] | undefined;
  readonly remove: readonly CustomTerm[];
  readonly includeMapping: boolean;
}

/** A document that was handed in, and what is to be done with it. */
export interface Upload {
  readonly file: DocumentFile;
  readonly options: AnonymizeOptions;
}

/** A request whose caller is known; its body is still to be read. */
export interface AnonymizeRequest extends Opening {
  /** Throws `invalid_request` or `request_too_large`. */
  upload(): Promise<Upload>;
  /** Of a job; absent where a client waits. */
  readonly lasting?: Lasting;
}

/** How a document is worked on that no client waits for. */
interface Lasting {
  readonly timeoutMs: number;
  readonly onProgress: (progress: JobProgress) => void;
  /** Keeps what came of the work before that is sealed. Rejects when it cannot: then it is not billed. */
  readonly keep: (document: AnonymizedDocument) => Promise<void>;
  /** Whether the call goes on another time: then nothing is sealed now. */
  readonly again: (error: GatewayError) => boolean;
}

/** What is given back. // spec 2.5 */
export interface AnonymizedDocument extends Pick<RedactedDocument, 'bytes' | 'mediaType' | 'downgraded'> {
  /** Without personal data too. */
  readonly filename: string;
  readonly pages: number;
  readonly images: number;
  /** In capitals, sorted. */
  readonly categories: readonly string[];
  /** Undefined unless it was asked for. */
  readonly mapping: DocumentFindings['mapping'] | undefined;
  /** Kinds of personal data that nobody has looked for though none was named. */
  readonly unscanned: readonly string[];
  readonly limits: Limits;
}

/** Steps of the corridor as a document walks them; each throws a `GatewayError` to refuse. */
export interface DocumentStages {
  open(opening: Opening): Entry;
  /** The call goes on another time, maybe elsewhere: its hold is not this process' any more. */
  leave(): void;
  route(model: string, entry: Entry): Target;
  meter(subject: Debited, target: Target, demand: PassageDemand): Promise<Hold>;
  readonly detection: Detection;
  readonly detectors: DetectorMarks;
  readonly engine: DocumentEngine | undefined;
}

/** What the work is called in allow-lists, price books and audit rows. */
const MODEL = 'anonymize';
export const MODEL_ID = `${LOCAL_PROVIDER.slug}/${MODEL}`;
/** The name of a file is searched like the rest of it; no unit of a document has this id. */
const NAME_UNIT = 'gw:filename';
/** Where documents are handed in that nobody waits for. */
export const JOBS_PATH = '/v1/documents/anonymize/jobs';

/**
 * A document's way: debited by the pages it may have before it is read, read, searched, rewritten; sealed, and settled by
 * the pages it has. Nothing is kept. Work that gives no document is not billed. // spec 1.1, 2.5, 8
 */
export async function anonymize(request: AnonymizeRequest, stages: DocumentStages): Promise<AnonymizedDocument> {
  using entry = stages.open(request);
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    refuseAtTheDoor(request);
    const timeoutMs = request.lasting?.timeoutMs ?? answerTimeout(request);
    entry.admitted({ model: MODEL_ID, stream: false });
    const { file, options } = await request.upload();
    refuseUnguarded(request.key.workload.policy);
    const findable = stages.detection.categories;
    const categories = categoriesOf(options.entities, findable, 'options.entities') ?? findable;
    entry.removed = options.remove.map(({ label }) => label);
    entry.step = 'route';
    const target = stages.route(MODEL_ID, entry);
    entry.step = 'meter';
    const { unit, most } = unitsAtMost(file.bytes);
    const demand = { ceiling: { [unit]: most }, quantities: [unit], reservedTokens: 0 };
    const subject = { ...request, model: MODEL_ID, stream: false, resumes: request.lasting !== undefined };
    const hold = (entry.hold = await stages.meter(subject, target, demand));
    entry.step = 'dispatch';
    entry.target = { provider: LOCAL_PROVIDER.slug, model: MODEL, jurisdiction: 'LOCAL', family: 'documents' };
    timer = setTimeout(() => late.abort(), timeoutMs);
    const signal = AbortSignal.any([request.signal, late.signal]);
    const until = request.lasting ? undefined : performance.now() + timeoutMs;
    const { document, found, ...done } = await work(
      { file, options, categories, most, until },
      request,
      stages,
      signal,
      entry,
    );
    const anonymized: AnonymizedDocument = {
      ...document,
      filename: done.filename,
      categories: Object.keys(found.findings).sort(),
      mapping: options.includeMapping ? found.mapping : undefined,
      unscanned: entry.unscanned,
      limits: hold.limits,
    };
    await request.lasting?.keep(anonymized);
    entry.answering = true;
    entry.usage = NO_USAGE;
    entry.units = { [unit]: done.units };
    // What is kept is there to be fetched, whoever gave up meanwhile.
    if (request.lasting || !request.signal.aborted) entry.served();
    return anonymized;
  } catch (thrown) {
    const error = asGatewayError(explain(thrown, request.signal, late.signal));
    entry.failed(error);
    if (request.lasting?.again(error)) {
      entry.leave();
      stages.leave();
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

interface Work extends Upload {
  readonly categories: ReadonlySet<string>;
  /** Pages or pictures that are held for. */
  readonly most: number;
  /** When its client waits no longer, by `performance.now()`. */
  readonly until: number | undefined;
}

interface Done {
  readonly document: RedactedDocument;
  readonly found: DocumentFindings;
  readonly filename: string;
  readonly units: number;
}

/** Reads, searches, rewrites. What was found is noted before anything can fail over it. */
async function work(
  { file, options, categories, most, until }: Work,
  { key, lasting }: AnonymizeRequest,
  { engine, detection: whole, detectors }: DocumentStages,
  signal: AbortSignal,
  entry: Entry,
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
  entry.findings = found.findings;
  entry.detectors = detectors.ofKinds(categories);
  if (!options.entities) entry.unscanned = notLookedFor(categories);
  const inside = found.replacements.filter(({ unit }) => unit !== NAME_UNIT);
  const { replacements } = found;
  const originals = originalsOf(found, read, terms);
  const wanted = { layout: read.layout, replacements: inside, originals, ...within(until) };
  const document = await engine.redact(file, wanted, signal, begun('rewriting', pages, lasting));
  const ofName = replacements.filter(({ unit }) => unit === NAME_UNIT);
  const done = { filename: name.with(replaced(name.searched, ofName)), units: pages };
  if (recognizedPages.length === 0) return { document, found, ...done };
  const looking = { engine, detection, tags, signal, onPages: begun('checking', pages, lasting) };
  const again = await lookAgain({ document, found }, { categories, terms }, looking);
  entry.findings = again.found.findings;
  return { ...again, ...done };
}

/** How long somebody still waits. */
function within(until: number | undefined): { readonly withinMs?: number } {
  return until === undefined ? {} : { withinMs: Math.max(0, until - performance.now()) };
}

/** Tells of a phase that begins; the result, of its pages. Undefined where nobody asks how far it is. */
function begun(
  phase: JobProgress['phase'],
  pages: number | undefined,
  lasting: Lasting | undefined,
): OnPages | undefined {
  if (!lasting) return undefined;
  lasting.onProgress({ phase, pages, pagesDone: 0 });
  return (pagesDone, of) => lasting.onProgress({ phase, pages: of, pagesDone });
}

/** What was debited must be enough: a file with more pages than its size lets expect is no honest one. */
function refuseMore({ pages }: ReadDocument, most: number): void {
  if (pages <= most) return;
  throw new DocumentFault('too_many_pages', 'the document has more pages than its size allows: split it');
}

function asJob(fault: DocumentFault): DocumentFault {
  const message = `${fault.message}: submit it as a job with POST ${JOBS_PATH}, or split it`;
  return new DocumentFault('too_slow', message, { cause: fault });
}

function explain(thrown: unknown, given: AbortSignal, late: AbortSignal): unknown {
  if (given.aborted) return given.reason instanceof ServerRestarting ? restarting() : thrown;
  if (thrown instanceof DocumentFault && thrown.kind === 'too_slow') return documentError(asJob(thrown), 'file');
  if (thrown instanceof DocumentFault) return documentError(thrown, 'file');
  if (!late.aborted) return thrown;
  return new GatewayError('upstream_timeout', 'The document could not be processed within the answer timeout.');
}
