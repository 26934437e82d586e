const LIST = 'Announces a list';
const OPEN = 'Leaves something open; what we decided is in the reference';

/** Sentences that promise nothing, each with the reason. */
export const NO_PROMISE: Readonly<Record<string, string>> = {
  '1/1': 'Says what the service is',
  '1/5': LIST,
  '2.2/14': OPEN,
  '2.4/2': LIST,
  '2.5/5': OPEN,
  '2.5/6': LIST,
  '2.6/3': LIST,
  '2.6/14': OPEN,
  '2.7/3': OPEN,
  '2.7/4': LIST,
  '3/1': 'Says that there is none',
  '3/2': OPEN,
  '4.2/1': OPEN,
  '4.5/14': LIST,
  '6.3/2': OPEN,
  '7.1/3': OPEN,
  '8/17': OPEN,
  '9/7': OPEN,
};
