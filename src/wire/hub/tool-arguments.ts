import { isObject, type JsonObject } from '../document/json.ts';

/**
 * Arguments of a tool call for families that have them as an object. Models sometimes write something else than a JSON
 * object; then empty arguments are the best choice. // wire-formats 3.3
 */
export function argumentsObject(argumentsJson: string): JsonObject {
  try {
    const value: unknown = JSON.parse(argumentsJson);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
