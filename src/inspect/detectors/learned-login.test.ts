import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked.ts';
import { createDetection } from './detect.ts';
import { learnedLogin, learnedSecret } from './learned-login.ts';

const detection = createDetection();
const only = new Set(['USERNAME', 'SECRET']);

describe('logins and passwords in sentences of no frame', () => {
  test.each([
    'Please tell me whether ‹USERNAME:rdonnelly12› is a valid login.',
    'I typed ‹SECRET:Regenbogen#71› but the password is refused.',
    'Wem gehört eigentlich das Konto ‹USERNAME:kbrandt_2›?',
    'On dirait que ‹USERNAME:jmoreau17› ne peut plus se connecter à son compte.',
    'He probado ‹SECRET:Girasol!58› pero la contraseña no vale.',
  ])('%s', (source) => {
    const { text, spans } = marked(source);
    expect(detection.find(text, only)).toEqual(spans);
  });

  test.each([
    'The login test in auth.service.ts calls getUser() since v2.4.1, see INC-20931.',
    'user: Please open config.yaml\nassistant: Done! The user_id column is a UUID.',
    'Der Benutzername ist kleingeschrieben, das Passwort ist case-sensitiv.',
  ])('not in: %s', (text) => {
    expect(detection.find(text, only)).toEqual([]);
  });
});

test('goes on behind what it has read, so that words that announce something cost the same each', () => {
  for (const examiner of [learnedLogin, learnedSecret]) {
    const text = 'login abc1 password abc2 '.repeat(400);
    const at = text.indexOf('1');
    expect(examiner.examine(text, at, 0, [])).toBeGreaterThan(at + 40);
    expect(examiner.examine(text, at, 0, [])).toBeLessThanOrEqual(at + 1024);
  }
});
