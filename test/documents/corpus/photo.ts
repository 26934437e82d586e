import sharp from 'sharp';
import { ascii } from './people.ts';
import type { Planting } from './planting.ts';

/** A picture that says in its metadata who made it. */
export function photo(planting: Planting): Promise<Buffer> {
  return sharp({ create: { width: 40, height: 40, channels: 3, background: '#aa8866' } })
    .withExif({ IFD0: { Artist: ascii(planting.name('EXIF of a picture')) } })
    .jpeg()
    .toBuffer();
}
