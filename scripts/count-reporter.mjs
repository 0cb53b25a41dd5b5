// The last line of `npm test`: how many tests passed and failed, for programs to read.

/** @import { TestModule } from 'vitest/node' */

export default class CountReporter {
  onTestRunEnd(/** @type {readonly TestModule[]} */ files, /** @type {readonly unknown[]} */ strayErrors) {
    let passed = 0
    // Errors outside of tests, and files that could not be loaded, are failures too.
    let failed = strayErrors.length
    for (const file of files) {
      if (file.errors().length > 0) failed += 1
      for (const test of file.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed += 1
        else failed += 1
      }
    }
    process.stdout.write(`\n${passed} passed, ${failed} failed\n`)
  }
}
