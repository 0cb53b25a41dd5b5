// The command line tool.
import { interrupt } from './interrupts.ts'
import { run } from './run.ts'

/** Put in when it is bundled. */
declare const belfryVersion: string

process.on('SIGINT', () => {
  if (!interrupt()) process.exit(130)
})
await run(belfryVersion, process.argv.slice(2), process.env)
