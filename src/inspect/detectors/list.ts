import { address } from './address.ts';
import { announcedLogin } from './announced-login.ts';
import { announcedSecret } from './announced-secret.ts';
import { bankAccount } from './bank-account.ts';
import { birthDate } from './birth-date.ts';
import { card } from './card.ts';
import { email } from './email.ts';
import type { Detector } from './detector.ts';
import { iban } from './iban.ts';
import { ip } from './ip.ts';
import { nationalId, taxId } from './numbers.ts';
import { learnedLogin, learnedSecret } from './learned-login.ts';
import { learnedWord } from './learned-word.ts';
import { passport } from './passport.ts';
import { plate } from './plate.ts';
import { createPhone } from './phone.ts';
import { secret } from './secret.ts';
import { username } from './username.ts';
import { vin } from './vin.ts';

/** What an installation may set about the search. */
export interface DetectionOptions {
  /** Regions (ISO 3166, `DE`) whose national phone forms are looked for; international forms are always. None named: a dozen, and any behind a label. */
  readonly phoneRegions?: readonly string[];
}

/** Everything that is looked for. The order decides between finds of equal length: the first one wins. */
export function createDetectors(options: DetectionOptions = {}): readonly Detector[] {
  return [
    iban,
    card,
    taxId,
    nationalId,
    secret,
    announcedSecret,
    learnedSecret,
    email,
    passport,
    birthDate,
    plate,
    vin,
    address,
    ip,
    username,
    announcedLogin,
    learnedLogin,
    learnedWord,
    bankAccount,
    createPhone(options.phoneRegions),
  ];
}
