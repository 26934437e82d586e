/** Countries by the group they may be declared, and allowed, as. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  EU: [
    ...['AT', 'BE', 'BG', 'CY', 'CZ', 'DE', 'DK', 'EE', 'ES', 'FI', 'FR', 'GR', 'HR', 'HU'],
    ...['IE', 'IT', 'LT', 'LU', 'LV', 'MT', 'NL', 'PL', 'PT', 'RO', 'SE', 'SI', 'SK'],
  ],
  APAC: ['AU', 'HK', 'ID', 'IN', 'JP', 'KR', 'MY', 'NZ', 'SG', 'TH', 'TW'],
};

/** ISO 3166-1: every country. */
const COUNTRIES: readonly string[] = (
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY ' +
  'BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK ' +
  'FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR ' +
  'IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ' +
  'ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM ' +
  'PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF ' +
  'TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
).split(' ');

/** Every place that a provider may declare and a policy may allow. `LOCAL`: this installation; `GLOBAL`: anywhere. */
export const PLACES: readonly string[] = [...Object.keys(GROUPS), 'GLOBAL', 'LOCAL', ...COUNTRIES];

/** Whether a list of jurisdictions takes in a place: by its name, or by a group it belongs to. Never the other way round. */
export function takesIn(allowed: ReadonlySet<string>, place: string): boolean {
  if (allowed.has(place)) return true;
  for (const group in GROUPS) if (allowed.has(group) && GROUPS[group]!.includes(place)) return true;
  return false;
}

/** Places that both lists contain: `EU` and `DE` have `DE` in common. Empty without a common place. */
export function commonPlaces(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([
    ...[...one].filter((place) => takesIn(other, place)),
    ...[...other].filter((place) => takesIn(one, place)),
  ]);
}
