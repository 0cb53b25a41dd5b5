// What `npm run bench` is asked for.
import { parseArgs } from 'node:util'
import type { Options } from '../report/figures.ts'

type Command =
  | { options: Options; names: string[] }
  /** Something to print instead; with a code other than zero it is a complaint. */
  | { text: string; exitCode: number }

export function readCommand(args: string[], suites: string[]): Command {
  const usage = `npm run bench -- [--quick] [suite…]: those that are named, or all but soak, of these:
  ${suites.join(', ')}
npm run bench soak -- --minutes 60 --per-second 50
`
  const refuse = (reason: string) => ({ text: `${reason}\n\n${usage}`, exitCode: 2 })
  try {
    const { values, positionals: names } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        minutes: { type: 'string', default: '60' },
        'per-second': { type: 'string', default: '50' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) return { text: usage, exitCode: 0 }
    const unknown = names.filter((name) => !suites.includes(name))
    if (unknown.length > 0) return refuse(`Unknown benchmark: ${unknown.join(', ')}`)
    const { quick, minutes, 'per-second': perSecond } = values
    return { options: { quick, minutes: Number(minutes), perSecond: Number(perSecond) }, names }
  } catch (error) {
    return refuse((error as Error).message)
  }
}
