import type { DocumentFile } from '#/ports/documents.ts';
import type { Job, JobFile, NewJob } from '#/ports/document-jobs.ts';
import type { Place, SealedBox } from '#/seal/content/content-cipher.ts';
import type { AnonymizedDocument, AnonymizeOptions, Upload } from '../anonymize/anonymize.ts';

/** What a job's result is, told beside its bytes. */
export type JobOutcome = Omit<AnonymizedDocument, 'bytes' | 'limits'>;

type Owner = Pick<Job, 'id' | 'organization'>;

/** Seals what belongs to jobs, each piece for its own place, with the key of its organization. */
export class JobPapers {
  readonly #box: SealedBox;

  constructor(box: SealedBox) {
    this.#box = box;
  }

  /** Name, type and options: the terms that are to go are personal data themselves. */
  sealOrder(job: Owner, { file: { name, mediaType }, options }: Upload): Uint8Array {
    return this.#seal(job, 'order', Buffer.from(JSON.stringify({ name, mediaType, options })));
  }

  /** Undefined when it opens with no known key. */
  openOrder(
    job: Owner & Pick<NewJob, 'order'>,
  ): { file: Omit<DocumentFile, 'bytes'>; options: AnonymizeOptions } | undefined {
    const opened = this.#box.open(placeOf(job, 'order'), job.order);
    if (!opened) return undefined;
    const { options, ...file } = JSON.parse(opened.toString('utf8')) as Omit<DocumentFile, 'bytes'> & {
      readonly options: Omit<AnonymizeOptions, 'entities'> & { readonly entities?: readonly string[] };
    };
    return { file, options: { ...options, entities: options.entities } };
  }

  sealOutcome(job: Owner, outcome: JobOutcome): Uint8Array {
    const { filename, mediaType, downgraded, pages, images, categories, mapping, unscanned } = outcome;
    const told: JobOutcome = { filename, mediaType, downgraded, pages, images, categories, mapping, unscanned };
    return this.#seal(job, 'outcome', Buffer.from(JSON.stringify(told)));
  }

  openOutcome(job: Owner & Pick<Job, 'outcome'>): JobOutcome | undefined {
    const opened = job.outcome && this.#box.open(placeOf(job, 'outcome'), job.outcome);
    return opened && (JSON.parse(opened.toString('utf8')) as JobOutcome);
  }

  sealFile(job: Owner, part: JobFile['part'], bytes: Uint8Array): Uint8Array {
    return this.#seal(job, part, bytes);
  }

  openFile(job: Owner, part: JobFile['part'], sealed: Uint8Array): Buffer | undefined {
    return this.#box.open(placeOf(job, part), sealed);
  }

  #seal(job: Owner, what: string, content: Uint8Array): Uint8Array {
    return this.#box.seal(placeOf(job, what), content);
  }
}

function placeOf({ id, organization }: Owner, what: string): Place {
  return { organization, purpose: 'job', name: `${id}/${what}` };
}
