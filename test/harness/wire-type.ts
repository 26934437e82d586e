/**
 * A type of a vendor's SDK as it is on the wire: bytes are base64, words of an enumeration are strings, and any JSON is
 * unknown.
 */
export type OnTheWire<T> = [boolean | number | string | null] extends [T] ? unknown : Spelt<T>;

type Spelt<T> = T extends Uint8Array
  ? string
  : T extends string
    ? `${T}`
    : T extends object
      ? { readonly [K in keyof T]: OnTheWire<T[K]> }
      : T;
