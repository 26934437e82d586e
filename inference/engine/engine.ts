import { DocumentFault } from '#/ports/documents.ts';
import type { Tools } from '../formats/format.ts';
import { formatOf } from '../formats/list.ts';
import { checkPage, checkPicture } from './self-check.ts';
import { sniff } from '../formats/sniff/sniff.ts';
import type { Job } from './verbs.ts';

/** Does what a job asks for; the result is what JSON can say. Rejects with `DocumentFault`, or with whatever a library threw. */
export async function perform(job: Job, tools: Tools): Promise<unknown> {
  const { kind, mediaType } = sniff(job.file);
  const format = await formatOf(kind);
  const file = { ...job.file, mediaType };
  switch (job.verb) {
    case 'read':
      return format.read(file, job.options, tools);
    case 'render':
      if (!format.render) throw new DocumentFault('unsupported', 'pages of this kind of document cannot be drawn');
      return format.render(file, job.options, tools);
    case 'recognize':
      if (!format.recognize)
        throw new DocumentFault('unsupported', 'text recognition does not support this kind of document');
      return format.recognize(file, job.options, tools);
    case 'redact': {
      const { bytes, ...redacted } = await format.redact(file, job.options, tools);
      return { ...redacted, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
    }
  }
}

/** Draws a page and recognizes words, as jobs do. Rejects with `no_renderer` or `unavailable` when one of them fails. */
export async function check(tools: Tools): Promise<{ readonly ok: true }> {
  await checkPicture(tools);
  await checkPage(await formatOf('pdf'), tools);
  return { ok: true };
}
