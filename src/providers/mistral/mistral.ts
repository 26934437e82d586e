import { mistral as vendor } from '#/vendors/mistral.ts';
import { compatible } from '../base/compatible.ts';
import { askForImages } from './images.ts';

/** Makes images in a conversation of its own. */
export const mistral = compatible(vendor, { asks: { images: askForImages } });
