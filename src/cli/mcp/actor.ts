import { countHidden } from '#/values/hidden-characters.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** What gateways decide by themselves is marked so. */
const OF_GATEWAYS = 'gateway:';

/** Who decides, as records show it. Throws UsageError. */
export function actorOf(name: string | undefined): string {
  if (name === undefined || name.trim() === '') throw new UsageError('--actor is missing: name who decides');
  if (name.length > 128 || countHidden(name) > 0 || /[\n\r\t]/.test(name) || name.startsWith(OF_GATEWAYS))
    throw new UsageError(`--actor takes a name of at most 128 characters that does not begin with ${OF_GATEWAYS}`);
  return name;
}
