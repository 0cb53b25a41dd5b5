// The command line of `npm run chaos`.
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type FaultKind, faultKinds } from './plan.ts'

export interface Asked {
  minutes: number
  /** Average request rate. */
  perSecond: number
  seed: string
  /** All faults, unless --only selects some. */
  kinds: readonly FaultKind[]
}

const usage = 'It takes --minutes N, --rate N, --seed S and --only FAULT,FAULT.'

/** @returns the options, or a sentence about what is wrong */
export function readArguments(args: string[]): Asked | { complaint: string } {
  let values: { minutes: string; seed: string; rate: string; only?: string | undefined }
  try {
    ;({ values } = parseArgs({
      args,
      options: {
        minutes: { type: 'string', default: '2' },
        seed: { type: 'string', default: randomBytes(4).toString('hex') },
        rate: { type: 'string', default: '1.5' },
        only: { type: 'string' },
      },
    }))
  } catch (error) {
    // Node's first sentence names the argument; the rest is for programs with positional arguments.
    return { complaint: `${(error as Error).message.split(/\.\s/, 1)[0]}. ${usage}` }
  }
  const [minutes, perSecond] = [Number(values.minutes), Number(values.rate)]
  if (![minutes, perSecond].every((number) => number > 0 && Number.isFinite(number)))
    return { complaint: '--minutes and --rate must be numbers above 0.' }
  const wanted = values.only?.split(',') ?? faultKinds
  const kinds = faultKinds.filter((kind) => wanted.includes(kind))
  if (kinds.length < wanted.length) return { complaint: `--only takes, separated by commas: ${faultKinds.join(', ')}.` }
  return { minutes, perSecond, seed: values.seed, kinds }
}

/** The command that repeats this plan. */
export function commandFor({ minutes, perSecond, seed, kinds }: Asked): string {
  const only = kinds.length < faultKinds.length ? ` --only ${quoted(kinds.join(','))}` : ''
  return `npm run chaos -- --minutes ${minutes} --rate ${perSecond} --seed ${quoted(seed)}${only}`
}

/** Quotes for a shell. */
const quoted = (word: string) => (/^[\w.-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
