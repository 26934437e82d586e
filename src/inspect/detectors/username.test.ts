import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
const only = new Set(['USERNAME']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

describe('logins', () => {
  test.each([
    'postgres://‹USERNAME:rsandoval83›:Sommer#0@db.internal/app',
    'login ok user=‹USERNAME:ljakobsen› ip=10.0.0.1',
    'accessed by user ‹USERNAME:gdawson› with password hbFdodD8A6',
    '{"username":"‹USERNAME:ada.byron›","role":"admin"} username: ‹USERNAME:ada1›',
    'username: ‹USERNAME:ada›\nBenutzername: ‹USERNAME:lovelace›, Passwort: folgt',
    'Benutzername: ‹USERNAME:ada_b›, identifiant: ‹USERNAME:ada-b›',
  ])('%s', expectFinds);

  test.each([
    'postgres://postgres:hunter2@db/app redis://user:pass@cache',
    'const user = await getUser(); user: User; username: string; user=request.user; login: true',
    'user=root, user=$USER, user={name}, username: {{ name }}, "user": "assistant"',
    'The user agreed with passing tests; a user interface with passwords',
    'user: "What is left?" user: "Que reste-t-il ?" user: "Thanks"',
    'Login: once per working day. Username: case does not matter. Nome utente: quello scelto. Last login: Wed Mar 5',
    'std::user: x, http://example.com:8080/a@b',
  ])('%s', expectFinds);
});
