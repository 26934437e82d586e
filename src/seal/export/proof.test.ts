import { expect, test } from 'vitest';
import { verifyProof, type Proof } from './proof.ts';

test.each(['{"toString":"x"}', 'null', '7', '["a"]', '{}'])('a call id that is %s shows nothing', (callId) => {
  const proof = JSON.parse(`{"proof":1,"call_id":${callId},"row":"{}"}`) as Proof;
  expect(verifyProof(proof, undefined)).toEqual({
    intact: false,
    callId: '',
    signaturesChecked: false,
    fault: 'the row is not an audit row in canonical form',
  });
});
