/** Kinds of personal data that detectors and models find, as policies and requests name them. // design 11 */
export const FINDABLE_ENTITIES = [
  'person_name',
  'email',
  'phone',
  'iban',
  'credit_card',
  'address',
  'location',
  'organization',
  'date_of_birth',
  'national_id',
  'passport',
  'tax_id',
  'license_plate',
  'bank_account',
  'ip_address',
  'username',
  'secret',
] as const;

/** A kind that can be found. */
type FindableEntity = (typeof FINDABLE_ENTITIES)[number];

/** Every kind there is a name for. Nothing looks for addresses of the web: a policy that named them would protect nothing. */
export const ENTITIES: readonly string[] = [...FINDABLE_ENTITIES, 'url'];

/** A kind as findings, tags and detectors name it: the same word in capitals. */
export type Category = Uppercase<FindableEntity>;

/** The category of a kind. */
export function toCategory(entity: FindableEntity): Category {
  return entity.toUpperCase() as Category;
}
