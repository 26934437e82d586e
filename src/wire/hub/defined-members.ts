import type { Json } from '../document/json.ts';

/** The value without the members that are undefined. */
export function defined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

/** Whether a member asks for or tells anything, so that dropping it is a loss: a switch that is off does not. */
export function says(value: Json | undefined): boolean {
  return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0);
}
