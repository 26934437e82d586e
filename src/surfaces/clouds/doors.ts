import type { Door } from '../door.ts';
import { BEDROCK_DOORS } from './bedrock.ts';
import { VERTEX_DOOR } from './vertex.ts';

/** Ways into the corridor for clients that speak to a cloud's Claude: the messages surface at other addresses. */
export const CLOUD_DOORS: readonly Door[] = [...BEDROCK_DOORS, VERTEX_DOOR];
