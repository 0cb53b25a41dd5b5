// The order of test files. On a machine that has run them before, vitest begins with the longest; on a new one it goes by size,
// and a short file that waits for two minutes of faults would begin when the others are done.
import { BaseSequencer } from 'vitest/node'

/** Those that take longest, or mostly wait; the longest first. */
const first = [
  'chaos/test/chaos.test.ts',
  'server/test/agreement.test.ts',
  'scripts/pack.test.ts',
  'server/src/db/install/restore-into.test.ts',
  'server/test/fuzz.test.ts',
  'server/test/consent-kill.test.ts',
  'server/test/access.test.ts',
  'server/test/start.test.ts',
  'server/test/upgrade.test.ts',
]

/** @import { TestSpecification } from 'vitest/node' */

export default class LongestFirst extends BaseSequencer {
  /** @override */
  async sort(/** @type {TestSpecification[]} */ files) {
    const sorted = await super.sort(files)
    const place = (/** @type {TestSpecification} */ { moduleId }) => {
      const index = first.findIndex((file) => moduleId.endsWith(`/${file}`))
      return index === -1 ? first.length : index
    }
    return sorted.sort((a, b) => place(a) - place(b))
  }
}
