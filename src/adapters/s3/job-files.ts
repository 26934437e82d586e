import type { JobFile, JobFiles } from '#/ports/document-jobs.ts';
import { S3Client, S3Error, type S3Address } from './signed-request.ts';

export interface S3JobFilesOptions extends S3Address {
  /** Before the names, without slashes at its ends; may be empty. */
  readonly prefix: string;
}

/** Files of jobs in a bucket, `prefix/<job>.input` and `prefix/<job>.result`. */
export function openS3JobFiles(options: S3JobFilesOptions): JobFiles & { close(): Promise<void> } {
  const client = new S3Client(options);
  const folder = options.prefix === '' ? '' : `${options.prefix}/`;
  const keyOf = ({ job, part }: JobFile): string => `${folder}${job}.${part}`;
  return {
    async put(file, encrypted) {
      const headers = { 'content-type': 'application/octet-stream' };
      const { status, bytes } = await client.send({ method: 'PUT', key: keyOf(file), headers, body: encrypted });
      if (status !== 200) throw new S3Error(status, bytes.toString('utf8'));
    },
    async get(file) {
      const { status, bytes } = await client.send({ method: 'GET', key: keyOf(file) });
      if (status === 404) return undefined;
      if (status !== 200) throw new S3Error(status, bytes.toString('utf8'));
      return bytes;
    },
    async remove(file) {
      const { status, bytes } = await client.send({ method: 'DELETE', key: keyOf(file) });
      if (status !== 204 && status !== 200 && status !== 404) throw new S3Error(status, bytes.toString('utf8'));
    },
    close: () => client.close(),
  };
}
