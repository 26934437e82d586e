import { isObject, type JsonObject } from '../document/json.ts';

/**
 * Arguments of a tool call for families that have them as an object. Models write what is no JSON object now and then;
 * there is nothing better to say then than that there are none. // wire-formats 3.3
 */
export function argumentsObject(argumentsJson: string): JsonObject {
  try {
    const value: unknown = JSON.parse(argumentsJson);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
