/** How often an address is decoded at most before its steps are read. */
const MOST_DECODINGS = 3;

/**
 * How servers may read a part of an address, first as it is: they decode it once or more often before they read its steps,
 * and some take wide signs for narrow ones.
 */
export function readingsOf(text: string): readonly string[] {
  const readings = [text.normalize('NFKC')];
  for (let times = 0; times < MOST_DECODINGS; times++) {
    const last = readings.at(-1)!;
    const next = decodedOnce(last).normalize('NFKC');
    if (next === last) break;
    readings.push(next);
  }
  return readings;
}

/**
 * Whether a reading has control characters, or a step that leads nowhere or upwards. Servers ignore what follows a
 * semicolon, and some ignore spaces. `between`: what separates steps.
 */
export function leadsAway(reading: string, between: RegExp = /[/\\]/): boolean {
  // eslint-disable-next-line no-control-regex
  return /[\u0000-\u001f\u007f]/.test(reading) || reading.split(between).some(isUpwards);
}

function isUpwards(step: string): boolean {
  const name = step.split(';', 1)[0]!.trim();
  return name === '.' || name === '..';
}

/** Each sign that is encoded; also one of ASCII in two bytes, which UTF-8 forbids and some servers take. */
function decodedOnce(text: string): string {
  return text
    .replace(/%c([01])%([89ab][0-9a-f])/gi, (_all, high: string, low: string) =>
      String.fromCharCode((Number(high) << 6) | (Number.parseInt(low, 16) & 0x3f)),
    )
    .replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString());
}
