// Asks the person at the terminal.
import { createInterface } from 'node:readline/promises'
import { Failure } from './failure.ts'

/** Only where stdin is a terminal. Ctrl-C ends the program; after Ctrl-D there is no answer. */
export async function ask(question: string): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true })
  const interrupted = new AbortController()
  lines.once('SIGINT', () => interrupted.abort())
  try {
    return (await lines.question(question, { signal: interrupted.signal })).trim()
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error
    if (interrupted.signal.aborted) throw new Failure('interrupted', 'interrupted', 'Interrupted')
    process.stderr.write('\n')
    return undefined
  } finally {
    lines.close()
  }
}
