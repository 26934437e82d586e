/** Texts could not be searched; nothing is known about them. */
export class DetectionUnavailable extends Error {
  override readonly name = 'DetectionUnavailable';
}

/** Texts cannot be searched however long one waits: they are too large, or too much is found in them. */
export class SearchTooLarge extends Error {
  override readonly name = 'SearchTooLarge';
}
