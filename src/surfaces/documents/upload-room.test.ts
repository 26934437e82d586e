import { expect, test } from 'vitest';
import { UploadRoom } from './upload-room.ts';

test('has room for as much as it is large, and again when somebody leaves', () => {
  const room = new UploadRoom(100);
  {
    using _large = room.enter(90);
    using _small = room.enter(10);
    let refused: unknown;
    try {
      room.enter(1);
    } catch (thrown) {
      refused = thrown;
    }
    expect(refused).toMatchObject({ code: 'upstream_overloaded', status: 503, retryAfterMs: 2000, shouldRetry: true });
  }
  using whole = room.enter(100);
  expect(whole).toBeDefined();
});
