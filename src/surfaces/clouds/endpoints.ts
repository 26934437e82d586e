import type { Endpoint } from '../endpoint/endpoint.ts';
import { BEDROCK_DOORS } from './bedrock.ts';
import { VERTEX_DOOR } from './vertex.ts';

/** Ways into the pipeline for clients that speak to a cloud's Claude: the messages surface at other addresses. */
export const CLOUD_ENDPOINTS: readonly Endpoint[] = [...BEDROCK_DOORS, VERTEX_DOOR];
