import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, as it waits for times that the product promises or does much on one core. Small files, all of them. */
export const LONG_FILES: readonly string[] = [
  'test/control/controller.test.ts',
  'test/models/training.test.ts',
  'test/failure/processes.test.ts',
  'test/documents/hostile.test.ts',
  'test/journeys/clients.test.ts',
  'test/load/load.test.ts',
  'test/chaos/chaos.test.ts',
  'test/fuzz/fuzz.test.ts',
];

/**
 * Begins with the long files: begun late, the last of them would run on alone. The others come as Vitest orders them: by
 * how long they took in an earlier run here, or else by size.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONG_FILES.findIndex((file) => moduleId.endsWith(`/${file}`));
      return at === -1 ? LONG_FILES.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
