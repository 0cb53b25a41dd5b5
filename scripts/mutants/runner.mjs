// Runs the tests it is told to, one message after another, in the copy it is started in. Vitest keeps its PostgreSQL and what it
// has compiled, so that a run costs the tests and little else.
import path from 'node:path'
import { createVitest } from 'vitest/node'

const [root = ''] = process.argv.slice(2)
const vitest = await createVitest('test', { root, watch: false, maxWorkers: 1, reporters: [{}] })
await vitest.standalone()
const project = vitest.getRootProject()
/** Not in its types. */
const inside = /** @type {{ isCancelling?: boolean }} */ (/** @type {unknown} */ (vitest))
/** Was put back since. @type {string | undefined} */
let changedBefore

/** @typedef {{ tests: string[], changed?: string, bail: boolean }} Order */

process.on('message', (/** @type {Order} */ order) => void run(order))
// Whoever started us is gone: end with all workers.
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'))

async function run(/** @type {Order} */ { tests, changed, bail }) {
  for (const file of [changedBefore, changed]) if (file !== undefined) vitest.invalidateFile(path.join(root, file))
  changedBefore = changed
  project.config.bail = bail ? 1 : 0
  const specifications = tests.map((test) => project.createSpecification(path.join(root, test)))
  /** @type {string[]} */
  let failed
  do {
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications)
    // Vitest answers with all modules it has ever run.
    failed = testModules.filter(({ relativeModuleId }) => tests.includes(relativeModuleId)).flatMap(failuresIn)
    if (unhandledErrors.length > 0) failed.push('an unhandled error')
    // A cancel that the last run asked for can arrive in this one, whose tests are then skipped.
  } while (failed.length === 0 && inside.isCancelling)
  process.send?.(failed)
}

/** @returns {string[]} */
function failuresIn(/** @type {import('vitest/node').TestModule} */ module) {
  // Modules that were not run because another failed are pending.
  if (module.state() !== 'failed') return []
  const [test] = module.children.allTests('failed')
  return [`${module.relativeModuleId}${test ? ` > ${test.fullName}` : ''}`]
}
