// The command line tool.
import { interrupt } from './interrupts.ts'
import { run } from './run.ts'

/** Put in when it is bundled. */
declare const belfryVersion: string

process.on('SIGINT', () => {
  if (!interrupt()) process.exit(130)
})
// Whoever read it, such as `head`, has seen enough.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
await run(belfryVersion, process.argv.slice(2), process.env)
