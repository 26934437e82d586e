import type { DocumentFile } from '#/ports/documents.ts';
import type { Job, JobFile, NewJob } from '#/ports/document-jobs.ts';
import type { ContentPlace, ContentCipher } from '#/seal/content/content-cipher.ts';
import type { AnonymizeOptions } from '#/inspect/attachments/anonymize-options.ts';
import type { AnonymizedDocument, Upload } from '../anonymize.ts';

/** Description of a job's result, stored with its bytes. */
export type JobOutcome = Omit<AnonymizedDocument, 'bytes' | 'limits'>;

type Owner = Pick<Job, 'id' | 'organization'>;

/** Encrypts what belongs to jobs, each piece for its own place, with the key of its organization. */
export class JobStorage {
  readonly #cipher: ContentCipher;

  constructor(cipher: ContentCipher) {
    this.#cipher = cipher;
  }

  /** Name, type and options: the terms that are to go are personal data themselves. */
  encryptOrder(job: Owner, { file: { name, mediaType }, options }: Upload): Uint8Array {
    return this.#encrypt(job, 'order', Buffer.from(JSON.stringify({ name, mediaType, options })));
  }

  /** Undefined when no known key decrypts it. */
  decryptOrder(
    job: Owner & Pick<NewJob, 'order'>,
  ): { file: Omit<DocumentFile, 'bytes'>; options: AnonymizeOptions } | undefined {
    const decrypted = this.#cipher.decrypt(placeOf(job, 'order'), job.order);
    if (!decrypted) return undefined;
    const { options, ...file } = JSON.parse(decrypted.toString('utf8')) as Omit<DocumentFile, 'bytes'> & {
      readonly options: Omit<AnonymizeOptions, 'entities'> & { readonly entities?: readonly string[] };
    };
    return { file, options: { ...options, entities: options.entities } };
  }

  encryptOutcome(job: Owner, outcome: JobOutcome): Uint8Array {
    const { filename, mediaType, downgraded, pages, images, categories, mapping, unscanned } = outcome;
    const told: JobOutcome = { filename, mediaType, downgraded, pages, images, categories, mapping, unscanned };
    return this.#encrypt(job, 'outcome', Buffer.from(JSON.stringify(told)));
  }

  decryptOutcome(job: Owner & Pick<Job, 'outcome'>): JobOutcome | undefined {
    const decrypted = job.outcome && this.#cipher.decrypt(placeOf(job, 'outcome'), job.outcome);
    return decrypted && (JSON.parse(decrypted.toString('utf8')) as JobOutcome);
  }

  encryptFile(job: Owner, part: JobFile['part'], bytes: Uint8Array): Uint8Array {
    return this.#encrypt(job, part, bytes);
  }

  decryptFile(job: Owner, part: JobFile['part'], encrypted: Uint8Array): Buffer | undefined {
    return this.#cipher.decrypt(placeOf(job, part), encrypted);
  }

  #encrypt(job: Owner, what: string, content: Uint8Array): Uint8Array {
    return this.#cipher.encrypt(placeOf(job, what), content);
  }
}

function placeOf({ id, organization }: Owner, what: string): ContentPlace {
  return { organization, purpose: 'job', name: `${id}/${what}` };
}
