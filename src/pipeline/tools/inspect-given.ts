import { Stopped, type CallFacts } from '#/call/facts.ts';
import type { ToolArguments, ToolCallRequest } from '#/call/tool-call.ts';
import type { DlpMode, McpServerConfig } from '#/config/snapshot.ts';
import { detectionFor, type Detection } from '#/inspect/detection.ts';
import type { DetectorMarks } from '#/inspect/detector-marks.ts';
import { inspect, type Inspection } from '#/inspect/inspect.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import { render } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { ARGUMENTS, argumentsDocument, argumentsIn } from '#/wire/mcp/leaves.ts';

/** Arguments as they may be sent to a server. */
export interface InspectedArguments {
  readonly inspection: Inspection;
  /** JSON source of an object, and the same parsed. */
  readonly sent: string;
  readonly sentValue: JsonObject;
  readonly facts: CallFacts;
}

/** What arguments are looked through with. */
export interface InspectParts {
  readonly detection: Detection;
  /** Names the detectors that inspected a call. */
  readonly detectors: DetectorMarks;
}

/** Finds what must not leave in every string, number and name of arguments. Throws the refusal in a `Stopped`. */
export async function inspectGiven(
  { source, value }: ToolArguments,
  request: Pick<ToolCallRequest, 'key' | 'remove' | 'signal'>,
  server: McpServerConfig,
  parts: InspectParts,
): Promise<InspectedArguments> {
  const { dlp } = request.key.workload.policy;
  const document = argumentsDocument(source, value);
  const remove = mayHaveOriginals(server, dlp.mode) ? [] : (request.remove ?? []);
  const slices = slicesFor(document.text, request);
  const detection = detectionFor(request, parts.detection);
  const stated = ({ findings = {}, unscanned = [] }: CallFacts): CallFacts => {
    const removed = remove.map(({ label }) => label);
    return { findings, unscanned, detectors: parts.detectors.of(dlp, unscanned), removed };
  };
  try {
    const inspection = await inspect(document, ARGUMENTS, dlp, remove, detection, undefined, [], slices);
    const facts = stated(inspection.facts);
    if (inspection.edits.length === 0) return { inspection, sent: source, sentValue: value, facts };
    const sent = argumentsIn(render(document.text, inspection.edits));
    return { inspection, sent, sentValue: JSON.parse(sent) as JsonObject, facts };
  } catch (thrown) {
    throw thrown instanceof Stopped ? new Stopped(thrown.cause, stated(thrown.facts)) : thrown;
  }
}

/** Whether policy lets the server receive what the client keeps from models. */
export function mayHaveOriginals({ trust }: McpServerConfig, mode: DlpMode): boolean {
  return trust === 'internal' && mode === 'allow_log';
}
