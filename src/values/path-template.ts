/** One step of a template: text, and names in braces. */
const STEP = /^(?:[^{}]|\{[^{}]+\})*$/;
/** Encoded signs that some servers read as separators or as steps upwards. */
const HIDDEN = /%(?:2[ef]|5c|00|0a|0d)/i;

/** Whether a path may have parameters put into it: no step of it leads upwards, and each `{name}` is whole. */
export function isPathTemplate(path: string): boolean {
  const steps = path.split('/').slice(1);
  return path.startsWith('/') && !HIDDEN.test(path) && steps.every((step) => STEP.test(step) && !isUpwards(step));
}

/** The names in braces, in order. */
export function placeholdersOf(path: string): readonly string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name);
}

/** A step that leads nowhere or upwards; servers ignore what follows a semicolon. */
function isUpwards(step: string): boolean {
  const [name] = step.split(';', 1);
  return name === '.' || name === '..';
}
