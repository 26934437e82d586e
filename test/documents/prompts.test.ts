import { describe, expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { everythingIn } from '../harness/pdfs.ts';
import { failureOf, written, type DocumentWorld } from './world.ts';
import {
  blank,
  bodyOf,
  engine,
  type File,
  letterFile,
  MAIL,
  MODELS,
  PDF,
  pdf,
  type PolicyName,
  received,
  send,
  start,
  startPrompts,
  SURFACES,
  text,
  unread,
  upstream,
  world,
} from './prompt-world.ts';

startPrompts();

describe.each(SURFACES)('%s', (surface) => {
  test.each(['log', 'logAnonymize', 'anonymize', 'blockAnonymize'] as const)(
    'a PDF travels under %s',
    async (policy) => {
      const anonymized = policy !== 'log';
      for (const model of MODELS) {
        upstream.respond(chat({ content: anonymized ? 'Mail «EMAIL_1».' : `Mail ${MAIL}.` }));
        const answer = await send(surface, model, policy, [letterFile()]);
        expect([model, answer.status]).toEqual([model, 200]);
        expect(await answer.text()).toContain(`Mail ${MAIL}.`);
        const { body, texts, images, files } = received();
        const all = [body, ...(await Promise.all(files.map(everythingIn)))].join('\n');
        if (anonymized) expect(all).not.toContain('lovelace');
        expect([model, files.length, images.length]).toEqual([
          model,
          model === 'native' ? 1 : 0,
          model === 'seeing' ? 1 : 0,
        ]);
        if (model === 'native' && !anonymized) expect(files[0]?.equals(pdf)).toBe(true);
        if (model === 'native' && anonymized) expect(all).toContain('EMAIL_1');
        if (model === 'plain') {
          expect(texts).toContain(`letter.pdf:\n\nPlease write to ${anonymized ? '«EMAIL_1»' : MAIL} at once.`);
          expect(texts).toContain('The harvest was good.');
        }
        const unscanned = !anonymized && model !== 'plain' ? ['file'] : [];
        expect(unread(answer)).toBe(unscanned[0] ?? null);
        const row = await world.row(answer);
        expect(row.dlp.unscanned).toEqual(['names', ...unscanned]);
        expect(row.dlp.findings).toEqual(unscanned.length > 0 ? {} : { EMAIL: 1 });
        const losses = { native: [], seeing: ['document.as_images'], plain: ['document.as_text'] }[model];
        expect(row.losses).toEqual(expect.arrayContaining(losses));
      }
    },
  );

  test('a PDF under tokenize goes as text to who would read it so, and as pictures to nobody', async () => {
    upstream.respond(chat({ content: 'Mail «EMAIL_1».' }));
    for (const model of ['plain', 'native'] as const) {
      const answer = await send(surface, model, 'tokenize', [letterFile()], `I am ${MAIL}.`);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain(`Mail ${MAIL}.`);
      const { body, texts, files } = received();
      expect(files).toEqual([]);
      expect(body).not.toContain('lovelace');
      // The same address has the same tag in the prompt and in the document.
      expect(texts).toContain('I am «EMAIL_1».');
      expect(texts).toContain('Please write to «EMAIL_1» at once.');
    }
    const before = upstream.requests.length;
    const refused = await send(surface, 'seeing', 'tokenize', [letterFile()]);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('data protection');
    expect(upstream.requests).toHaveLength(before);
  });

  test('personal data in a document is masked, or refuses the call', async () => {
    expect((await send(surface, 'plain', 'mask', [letterFile()])).status).toBe(200);
    expect(received().texts).toContain('Please write to [EMAIL] at once.');
    const before = upstream.requests.length;
    for (const model of MODELS) {
      const answer = await send(surface, model, 'block', [letterFile()]);
      expect([model, answer.status]).toEqual([model, 422]);
      const refused = await send(surface, model, 'refuse', [letterFile()]);
      expect([model, refused.status]).toEqual([model, 422]);
    }
    expect(upstream.requests).toHaveLength(before);
  });

  test('a text is read like the prompt, under any policy', async () => {
    const file = { bytes: text, mediaType: 'text/csv', name: 'people.csv' };
    for (const model of MODELS) {
      for (const policy of ['tokenize', 'anonymize', 'logAnonymize', 'mask', 'log'] as const) {
        const answer = await send(surface, model, policy, [file]);
        expect([model, policy, answer.status]).toEqual([model, policy, 200]);
        expect(unread(answer)).toBeNull();
        const { texts, files } = received();
        const all = files.join('') + texts;
        expect(all).toContain({ log: `Ada,${MAIL}`, mask: 'Ada,[EMAIL]' }[policy as string] ?? 'Ada,«EMAIL_1»');
      }
      expect((await send(surface, model, 'block', [file])).status).toBe(422);
      expect((await send(surface, model, 'refuse', [file])).status).toBe(422);
    }
  });
});

describe('an alias', () => {
  const ask = (model: string, policy: PolicyName): Promise<Response> => {
    const body = { ...bodyOf('chat', 'x', [letterFile()]), model };
    return world.post('/v1/chat/completions', body, { as: policy.toLowerCase() });
  };

  test('is answered by who may be told', async () => {
    const answer = await ask('gw/careful', 'tokenize');
    expect(answer.status).toBe(200);
    expect(received().texts).toContain('Please write to «EMAIL_1» at once.');
    const row = await world.row(answer);
    expect(row).toMatchObject({ provider: 'plain' });
    expect(row.route?.join('\n')).toContain('seeing/m: skipped');
  });

  test('prefers who takes files, where they may leave', async () => {
    expect((await ask('gw/best', 'anonymize')).status).toBe(200);
    expect(received().files).toHaveLength(1);
    expect((await ask('gw/best', 'tokenize')).status).toBe(200);
    expect(received().files).toHaveLength(0);
  });
});

describe('a conversation', () => {
  test('sends the same bytes each turn, and what it adds has tags of its own', async () => {
    const first = { role: 'user', content: [{ type: 'text', text: 'From grace@hopper.example.' }] };
    const file_data = `data:${PDF};base64,${pdf.toString('base64')}`;
    const second = { role: 'user', content: [{ type: 'file', file: { filename: `${MAIL} says.pdf`, file_data } }] };
    const later = [
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: 'Copy alan@turing.example.' },
    ];
    const ask = async (messages: readonly object[]): Promise<string> => {
      const answer = await world.post('/v1/chat/completions', { model: 'native/m', messages }, { as: 'anonymize' });
      expect(answer.status).toBe(200);
      return received().body;
    };
    const before = await engine.metric('gw_inference_jobs_total{verb="redact",outcome="done"}');
    const [one, two] = [await ask([first, second]), await ask([first, second, ...later])];
    const shared = one.slice(one.indexOf('"messages":['), one.indexOf('"}}]}') + 5);
    expect(shared.length).toBeGreaterThan(500);
    expect(two).toContain(shared);
    expect(one).toContain('From «EMAIL_1»');
    expect(one).toContain('"filename":"«EMAIL_2» says.pdf"');
    expect(two).toContain('Copy «EMAIL_3»');
    expect((await engine.metric('gw_inference_jobs_total{verb="redact",outcome="done"}')) - before).toBeLessThanOrEqual(
      1,
    );
  });

  test('a document in the result of a tool, with its cache marker', async () => {
    const source = { type: 'base64', media_type: PDF, data: pdf.toString('base64') };
    const document = { type: 'document', source, title: MAIL, cache_control: { type: 'ephemeral' } };
    const messages = [
      { role: 'user', content: 'Fetch it.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'fetch', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [document] }] },
    ];
    const body = {
      model: 'plain/m',
      max_tokens: 100,
      messages,
      tools: [{ name: 'fetch', input_schema: { type: 'object' } }],
    };
    expect((await world.post('/v1/messages', body, { as: 'tokenize' })).status).toBe(200);
    expect(received().body).toContain('«EMAIL_1»:\\n\\nPlease write to «EMAIL_1» at once.');
  });

  test('terms to remove are removed from documents too', async () => {
    const body = { ...bodyOf('chat', 'plain', [letterFile()]), gw: { remove: [{ term: 'harvest', label: 'crop' }] } };
    const answer = await world.post('/v1/chat/completions', body, { as: 'log' });
    expect(answer.status).toBe(200);
    expect(received().texts).toMatch(/The «[A-Z_]*CROP_1» was good/);
  });
});

describe('pictures', () => {
  test('in a prompt are blurred where documents are anonymized, and named otherwise', async () => {
    const picture = await written('DEAR ADA LOVELACE', 'COME AT NOON');
    const url = `data:image/png;base64,${picture.toString('base64')}`;
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
    const ask = (as: string): Promise<Response> =>
      world.post('/v1/chat/completions', { model: 'seeing/m', messages, gw: { remove: ['Lovelace'] } }, { as });
    const open = await ask('tokenize');
    expect(unread(open)).toBe('image');
    expect(received().images).toEqual([url]);
    const closed = await ask('anonymize');
    expect(closed.status).toBe(200);
    expect(unread(closed)).toBeNull();
    const [sent = ''] = received().images;
    expect(sent).toMatch(/^data:image\/png;base64,/);
    expect(sent).not.toBe(url);
    expect((await world.row(closed)).dlp).toMatchObject({ unscanned: ['names'], findings: { TERM: 1 } });
  });

  test('as files are pictures to who sees, where they may leave unread, and their text to who does not', async () => {
    const bytes = await written('HELLO');
    const file = { bytes, mediaType: 'image/png', name: 'a.png' };
    const answer = await send('chat', 'seeing', 'log', [file]);
    expect(unread(answer)).toBe('image');
    expect(received().images).toEqual([`data:image/png;base64,${bytes.toString('base64')}`]);
    const before = upstream.requests.length;
    for (const policy of ['tokenize', 'mask', 'block', 'refuse'] as const) {
      for (const model of ['native', 'seeing'] as const) {
        expect([policy, model, (await send('chat', model, policy, [file])).status]).toEqual([policy, model, 422]);
      }
    }
    expect(upstream.requests).toHaveLength(before);
    for (const policy of ['log', 'tokenize', 'anonymize'] as const) {
      const told = await send('chat', 'plain', policy, [file]);
      expect([policy, told.status, unread(told)]).toEqual([policy, 200, null]);
      expect(received()).toMatchObject({
        images: [],
        files: [],
        texts: expect.stringContaining('a.png:\n\nHELLO') as string,
      });
    }
  });

  test.each(['refuse', 'anonymize'] as const)('nobody has looked into are not sent by %s', async (as) => {
    const before = upstream.requests.length;
    const url = `data:image/png;base64,${(await written('HELLO')).toString('base64')}`;
    const urls = ['https://pictures.example/a.png', ...(as === 'refuse' ? [url] : [])];
    for (const one of urls) {
      const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: one } }] }];
      const refused = await failureOf(
        await world.post('/v1/chat/completions', { model: 'seeing/m', messages }, { as }),
      );
      expect(refused).toMatchObject({ status: 422, code: 'data_protection' });
    }
    expect(upstream.requests).toHaveLength(before);
  });
});

describe('without an engine', () => {
  const ask = (from: DocumentWorld, model: string, as: string, file: File): Promise<Response> =>
    from.post('/v1/chat/completions', bodyOf('chat', model, [file]), { as });

  test.each([
    ['not there', undefined],
    ['down', 'http://127.0.0.1:9'],
  ])('%s', async (_how, url) => {
    await using alone = await start(url);
    const before = upstream.requests.length;
    expect(await failureOf(await ask(alone, 'seeing', 'log', letterFile()))).toMatchObject({
      status: 503,
      code: 'pdf_renderer_unavailable',
    });
    expect((await ask(alone, 'plain', 'log', letterFile())).status).toBe(503);
    // Where an engine is to be, names are too, and nobody looks for them.
    const refused = url === undefined ? 422 : 503;
    expect((await ask(alone, 'native', 'anonymize', letterFile())).status).toBe(refused);
    expect((await ask(alone, 'seeing', 'tokenize', letterFile())).status).toBe(refused);
    expect((await ask(alone, 'native', 'tokenize', letterFile())).status).toBe(refused);
    expect(upstream.requests).toHaveLength(before);
    expect((await ask(alone, 'native', 'log', letterFile())).status).toBe(200);
    const csv = { bytes: text, mediaType: 'text/csv', name: 'a.csv' };
    expect((await ask(alone, 'seeing', 'tokenize', csv)).status).toBe(url === undefined ? 200 : 503);
    if (url === undefined) expect(received().texts).toContain('Ada,«EMAIL_1»');
  });
});

test('who hangs up while a document is read is neither billed nor sent anywhere', async () => {
  const before = upstream.requests.length;
  const leave = new AbortController();
  const file = { bytes: await blank(40, [600, 800]), mediaType: PDF, name: 'long.pdf' };
  const asked = world.post('/v1/chat/completions', bodyOf('chat', 'seeing', [file]), {
    as: 'log',
    signal: leave.signal,
  });
  const jobs = 'gw_inference_jobs_running';
  await expect.poll(() => engine.metric(jobs)).toBeGreaterThan(0);
  leave.abort();
  await expect(asked).rejects.toThrow('aborted');
  await expect.poll(() => engine.metric(jobs)).toBe(0);
  expect(upstream.requests).toHaveLength(before);
});
