import type { Match } from '../match.ts';

/** Products, models and projects that are not names of people, one word each, in lower case. */
const PRODUCTS = wordsOf(`
  airbyte airflow alamofire alembic anthropic apollo aider android ansible argocd astro aws azure babel bedrock bigquery
  bitbucket bitwarden bun cargo cassandra celery chatgpt chrome chromium cilium claude cloudflare codex confluence copilot
  crashlytics cursor cypress datadog deepseek deno dependabot discord django docker duckdb elasticsearch eslint excel
  express fastapi fastify fastlane figma firebase firefox flask flux flutter fortran gemini git gitea github gitlab glide
  golang gradle grafana grok haiku haskell helm heroku homebrew husky istio java javascript jenkins jest jira jupyter
  kafka keycloak kingfisher koin kotlin kubernetes langchain langfuse langgraph laravel linear linux llama loki looker
  macos mattermost maven midjourney mistral mongodb mypy mysql netlify next.js nginx node node.js notion npm numpy
  okta ollama openai opsgenie opus oracle outlook pandas perl perplexity photoshop php pinecone playwright plotly pnpm
  podman polars postgres postgresql power prettier prisma prometheus pulumi puppeteer puppet pytest python pytorch qwen
  rabbitmq rails react redis redux renovate retrofit ruff rust safari sass scala scratch selenium sentry sequoia
  sidekiq slack snowflake snyk sonar sonnet spark spring sqlite storybook stripe sublime svelte swift swinject tableau
  tailwind temurin tensorflow terraform traefik typescript ubuntu vault vercel vertex vite vitest vscode vue weaviate
  webex webkit webpack whisper windows xcode yarn zig zoom zustand verify code cli sdk api
`);

/** Of those, and besides, what people are called too: no name only where the text speaks of software. */
const ALSO_PEOPLE = wordsOf(`
  apollo alexa ansible cassandra claude codex cypress django duo flux gemini gemma jasper jenkins julia kafka
  linear loki mistral nova opus oracle pascal perl phi prisma ruby sage scala scratch siri sonnet spark spring
  sterling swift tempo verify whisper code husky astro haiku rust helm slack sass maven vault bun cargo flask express
  stripe glide power celery cursor jest git zoom snowflake puppet grok
`);

/** Signs of a text about software: names that no person has, a file of code, a model's version. */
const SOFTWARE =
  /\b(?:anthropic|openai|chatgpt|gpt-\d|deepseek|ollama|claude[- ](?:code|sonnet|opus|haiku|instant|desktop|\d)|claude\.(?:md|ai)|agents\.md|system prompt|subagent|sub-agent|llm|kubernetes|docker|postgres\w*|typescript|javascript|github|gitlab|graphql|firebase|terraform|gradle|ios and android|swiftui|npm|pnpm|kubectl|python|you are (?:an?|the) (?:ai|agent|coding)|ai (?:agent|assistant|model)|language model|sprachmodell|modèle de langage)\b/i;

const MONTHS_AND_DAYS = wordsOf(`
  january february march april may june july august september october november december
  monday tuesday wednesday thursday friday saturday sunday
  januar jänner februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonnabend
  sonntag janvier février mars avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi
  vendredi samedi dimanche enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes
  martes miércoles jueves viernes sábado domingo gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
  lunedì martedì mercoledì giovedì venerdì sabato domenica januari februari maart mei maandag dinsdag woensdag
  donderdag vrijdag zaterdag zondag styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad
  grudzień poniedziałek wtorek środa czwartek piątek sobota niedziela janeiro fevereiro março maio junho julho setembro
  outubro dezembro segunda terça quarta quinta sexta
`);
/** Months and days that are also first names; alone they are a time only next to another sign of one. */
const NAMES_OF_TIME = wordsOf(
  'april may june august mai juni julio marzo mars abril agosto avril domingo augusto mei maj junio sabato domenica',
);
const TIME_BEFORE =
  /(?:\d\.? |\b(?:in|by|to|until|till|since|from|before|after|every|early|late|mid|next|last|this|im|bis|seit|ab|vor|en|de|du|depuis|desde|hasta|a|da|di|dal|al|w|do|od|em|até|van|tot|sinds) |[-–/,] ?)$/i;
const TIME_AFTER = /^(?:,? \d|[-–/]| (?:to|and|bis|und|à|et|a|y|e|i|tot|en) )/i;

/** Words that begin sentences, turns and orders, and departments of a company: capitalized, but not names. */
const ORDINARY = wordsOf(`
  user assistant human system agent bot ai bump add fix use run read ask keep call see revert merge update remove then also
  marketing sales legal finance support security engineering operations helpdesk
  kies klik lees gebruik vraag geef korzystasz odpowiadasz pomagasz jesteś prüfe lies nutze nenne sprich antworte frage
  réponds utilise demande responde usa pide rispondi chiedi responda use admin root
`);

/** The name that an assistant is given, one word, with its role: `You are Nova, the virtual assistant of`. */
const PERSONA =
  /(?:^|[\n.!>"“] {0,2})(?:you are|you're|your name is|du bist|du heißt|sie sind|tu es|vous êtes|eres|sei|tu sei|je bent|jij bent|jesteś|és(?: a| o)?|você é(?: a| o)?|és) $/i;
const OFFICE =
  /^,?[^\n.]{0,48}(?:assistant|assistent|asistent|asystent|\bagent|chatbot|\bbot\b|helper|hilfe|copilot|concierge|asistente|adviser|advisor)/i;
const PERSONA_REACH = 32;
const OFFICE_REACH = 80;

/** Endings of files that programs and agents read; a document may be named after a person. */
const CODE_FILE =
  /^\.(?:md|mdx|ts|tsx|js|jsx|mjs|cjs|py|java|kt|kts|go|rs|rb|php|cs|swift|ya?ml|toml|json|css|html|sh|sql)\b/;
const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}.+#]*/gu;
const IDENTIFIER = /^[a-z]+[A-Z]\w*$/;

/**
 * The names that a model found in a text, without those of no person: products and models, months and days, files of
 * code, identifiers, offices, and the assistant itself. If people have such a name, the text decides; a name
 * that contains any other word stays.
 */
export function withoutNobody(text: string, found: readonly Match[]): readonly Match[] {
  if (!found.some(({ category }) => category === PERSON)) return found;
  let software: boolean | undefined;
  const isSoftware = (): boolean => (software ??= SOFTWARE.test(text));
  const personas = new Set(
    found.filter((match) => isPersona(text, match)).map(({ start, end }) => text.slice(start, end)),
  );
  return found.filter(
    (match) =>
      match.category !== PERSON ||
      !(personas.has(text.slice(match.start, match.end)) || isNobody(text, match, isSoftware)),
  );
}

const PERSON = 'PERSON_NAME';
/** Whoever is addressed so is somebody, whatever the name. */
const TITLE =
  /(?:^|[^\p{L}])(?:mrs?|ms|miss|dr|prof(?:essor)?|sir|herrn?|frau|fräulein|m|mme|mlle|monsieur|madame|sra?|srta|señora?|don|doña|sig|signora?|dott|dhr|mevr|mevrouw|meneer|pan|pani|senhora?|colleague|kolleg(?:e|in))\.? $/iu;
const TITLE_REACH = 16;

function isNobody(text: string, { start, end }: Match, isSoftware: () => boolean): boolean {
  if (TITLE.test(text.slice(Math.max(0, start - TITLE_REACH), start))) return false;
  const words = text.slice(start, end).match(WORD) ?? [];
  if (words.length === 1 && CODE_FILE.test(text.slice(end, end + 8))) return true;
  return words.length > 0 && words.every((word) => isNobodysWord(text, word, start, end, isSoftware));
}

function isNobodysWord(text: string, word: string, start: number, end: number, isSoftware: () => boolean): boolean {
  if (IDENTIFIER.test(word)) return true;
  const plain = word.toLowerCase().replace(/[.+#]$/, '');
  if (ORDINARY.has(plain)) return true;
  if (ALSO_PEOPLE.has(plain)) return isSoftware();
  if (PRODUCTS.has(plain)) return true;
  if (!MONTHS_AND_DAYS.has(plain)) return false;
  if (!NAMES_OF_TIME.has(plain)) return true;
  return TIME_BEFORE.test(text.slice(Math.max(0, start - 12), start)) || TIME_AFTER.test(text.slice(end, end + 8));
}

/** Whether a text tells an assistant that this is its name. A first name and a surname are somebody's. */
function isPersona(text: string, { start, end, category }: Match): boolean {
  if (category !== PERSON || text.slice(start, end).includes(' ')) return false;
  const isCalled = PERSONA.test(text.slice(Math.max(0, start - PERSONA_REACH), start));
  return isCalled && OFFICE.test(text.slice(end, end + OFFICE_REACH));
}

function wordsOf(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}
