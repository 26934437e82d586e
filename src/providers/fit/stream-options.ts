import type { FitContext } from '#/ports/provider.ts';
import { setMember } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';
import type { ChatRules } from '#/vendors/rules.ts';
import type { Fitting } from './fitting.ts';

const USAGE = '"include_usage":true';
const NO_PADDING = '"include_obfuscation":false';

/**
 * Streams are metered by their usage frame, so it is requested wherever possible; padding is not, since no reader needs
 * it.
 */
export function fitStreamOptions(
  fitting: Fitting,
  taken: ChatRules['streamOptions'],
  { stream, includeUsage }: FitContext,
): void {
  if (taken === 'none') return leaveOut(fitting);
  if (!stream) return;
  const all = taken === 'unpadded' ? `${USAGE},${NO_PADDING}` : USAGE;
  const options = fitting.node('stream_options');
  if (options?.kind !== 'object') return fitting.set('stream_options', `{${all}}`);
  if (options.members.length === 0) {
    return fitting.edit({ start: options.start + 1, end: options.start + 1, text: all });
  }
  if (taken === 'unpadded') fitting.edit(setMember(options, 'include_obfuscation', 'false'));
  if (taken === 'usage' && options.members.some(({ key }) => key.value !== 'include_usage')) {
    return fitting.set('stream_options', `{${all}}`);
  }
  if (!includeUsage || member(options, 'include_usage') === undefined) {
    fitting.edit(setMember(options, 'include_usage', 'true'));
  }
}

/** Usage is reported without being requested, by the vendor or by us: only other options count as a loss. */
function leaveOut(fitting: Fitting): void {
  const options = fitting.node('stream_options');
  if (options === undefined) return;
  const isUsage = options.kind === 'object' && options.members.every(({ key }) => key.value === 'include_usage');
  if (isUsage) fitting.remove(fitting.root, 'stream_options');
  else fitting.drop('stream_options');
}
