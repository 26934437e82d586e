/** Shorter secrets occur in texts by chance, and are not looked for. */
const LEAST = 6;
const SHOWN = '[credential]';

/** The bytes of an answer without the secret that it was asked with, as it is written, in JSON and in addresses. */
export function withoutSecret(bytes: Buffer, secret: string | undefined): Buffer {
  if (secret === undefined || secret.length < LEAST) return bytes;
  const forms = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  const found = [...forms].filter((form) => bytes.includes(form));
  if (found.length === 0) return bytes;
  // A character a byte: whatever the answer is written in stays as it is.
  const cleaned = found.reduce((text, form) => text.replaceAll(form, SHOWN), bytes.toString('latin1'));
  return Buffer.from(cleaned, 'latin1');
}
