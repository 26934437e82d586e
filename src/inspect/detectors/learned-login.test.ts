import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
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
    'Chunk ID: eafa73\nWall time: 0.1 seconds, the user asked for run_in_background and total_tokens.',
    'Please tell me about the login.\nrdonnelly12 is on the next line.',
  ])('not in: %s', (text) => {
    expect(detection.find(text, only)).toEqual([]);
  });
});
