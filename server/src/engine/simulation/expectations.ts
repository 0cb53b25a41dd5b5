// Whether what happened is what was expected. What is given is compared, what is not may be anything; texts between slashes are
// regular expressions; `at` and other times are moments.
import { compilePattern, longestPattern, type Pattern, syntaxHint } from '../../steps/json-schema/pattern.ts'
import { MomentInvalid, momentMs } from './moments.ts'
import { invalid, type Members } from './scenario.ts'

export interface Expectation {
  index: number
  holds: boolean
  text: string
  nearest: unknown
}

const kinds = ['messages', 'message', 'noMessage', 'step', 'window', 'trigger', 'totals'] as const
type Kind = (typeof kinds)[number]

/** Refuses entries that nobody could meet. */
export function checkExpectations(expect: Members[], startAt: number): void {
  for (const [index, entry] of expect.entries()) {
    const where = `expect[${index}]`
    const named = kinds.filter((kind) => entry[kind] !== undefined)
    if (named.length !== 1) throw invalid(where, `it must have exactly one of ${kinds.join(', ')}`)
    const [kind] = named as [Kind]
    const wanted = entry[kind]
    const list = kind === 'messages' ? wanted : [wanted]
    if (!Array.isArray(list) || !list.every(isObject))
      throw invalid(`${where}.${kind}`, kind === 'messages' ? 'it must be a list of objects' : 'it must be an object')
    const { count } = entry
    if (count !== undefined && !(Number.isInteger(count) && Number(count) >= 0))
      throw invalid(`${where}.count`, 'it must be a whole number')
    for (const [place, each] of list.entries())
      checkValues(each, kind === 'messages' ? `${where}.messages[${place}]` : `${where}.${kind}`, startAt)
  }
}

/** Where the answer has lists of its own; elsewhere below an entry, members are the user's, and what is no moment is a text. */
const ownLists = ['waits', 'attempts']

function checkValues(wanted: Members, where: string, startAt: number, isOwn = true): void {
  for (const [name, value] of Object.entries(wanted)) checkValue(value, name, `${where}.${name}`, startAt, isOwn)
}

function checkValue(value: unknown, name: string, where: string, startAt: number, isOwn: boolean): void {
  if (Array.isArray(value))
    for (const [index, each] of value.entries()) {
      const at = `${where}[${index}]`
      if (isObject(each)) checkValues(each, at, startAt, isOwn && ownLists.includes(name))
      else checkValue(each, name, at, startAt, isOwn)
    }
  else if (isObject(value)) checkValues(value, where, startAt, false)
  else if (typeof value === 'string' && isTime(name) && isOwn) checkMoment(value, where, startAt)
  else if (typeof value === 'string' && isPattern(value)) patternOf(value, where)
}

function checkMoment(value: string, where: string, startAt: number): void {
  try {
    momentMs(value, startAt)
  } catch (error) {
    if (error instanceof MomentInvalid) throw invalid(where, error.message)
    throw error
  }
}

/** Steps that all regular expressions of a scenario may take: some seconds. */
const mostSteps = 500_000_000
const isPattern = (value: string) => value.length > 2 && value.startsWith('/') && value.endsWith('/')

function patternOf(value: string, where = ''): Pattern {
  const source = value.slice(1, -1)
  if (source.length > longestPattern)
    throw invalid(where, `a regular expression has at most ${longestPattern} characters`)
  try {
    return compilePattern(source)
  } catch {
    throw invalid(where, `${value} is not a regular expression; ${syntaxHint}`)
  }
}

/** The regular expressions of one comparison. */
class Patterns {
  readonly #known = new Map<string, Pattern>()
  #left = mostSteps

  isMatch(value: string, text: string): boolean {
    const pattern = this.#known.get(value) ?? patternOf(value)
    this.#known.set(value, pattern)
    this.#left -= text.length * pattern.stepsPerCharacter
    if (this.#left < 0) throw invalid('expect', 'its regular expressions take too long on these texts; shorten either')
    return pattern.test(text)
  }
}

/** @param played the answer so far, as it will be sent */
export function expectations(
  expect: Members[],
  played: Members,
  startAt: number,
): { expectations: Expectation[]; passed: boolean } {
  // As the caller sees it: times are texts.
  const seen = expect.length === 0 ? {} : (JSON.parse(JSON.stringify(played)) as Members)
  const patterns = new Patterns()
  const fits: Fits = (found, wanted, name = '') => isFitting(found, wanted, name, { startAt, patterns })
  const all = expect.map((entry, index) => ({ index, ...judge(entry, seen, fits) }))
  return { expectations: all, passed: all.every(({ holds }) => holds) }
}

type Verdict = Omit<Expectation, 'index'>

function judge(entry: Members, seen: Members, fits: Fits): Verdict {
  const kind = kinds.find((each) => entry[each] !== undefined) ?? 'totals'
  const messages = listIn(seen.messages)
  const nearest = (found: Members[], wanted: Members) => nearestOf(found, wanted, fits)
  switch (kind) {
    case 'messages': {
      const wanted = listIn(entry.messages)
      const sent = messages.filter(({ status }) => status === 'sent')
      const wrong = wanted.findIndex((each, place) => !fits(sent[place], each))
      if (wrong < 0 && sent.length === wanted.length) return held(`${messagesAre(sent.length)} sent, as expected`)
      if (wrong < 0) {
        const expected = wanted.length === 1 ? '1 message was' : `${wanted.length} messages were`
        const text = `${expected} expected, and ${messagesAre(sent.length)} sent`
        return { holds: false, text, nearest: sent[wanted.length] ?? null }
      }
      const text = `message ${wrong + 1} of ${wanted.length} is not as expected: ${shown(wanted[wrong])}`
      return { holds: false, text, nearest: sent[wrong] ?? null }
    }
    case 'message':
    case 'window':
    case 'trigger': {
      const wanted = entry[kind] as Members
      const plural = `${kind}s` as const
      return counted(kind, listIn(seen[plural]), wanted, entry.count, { fits, nearest })
    }
    case 'noMessage': {
      const wanted = entry.noMessage as Members
      const found = messages.filter((message) => fits(message, wanted))
      if (found.length === 0) return held('no such message, as expected')
      return { holds: false, text: `a message is ${shown(wanted)}, and none should be`, nearest: found[0] ?? null }
    }
    case 'step':
      return judgeStep(entry.step as Members, seen, fits, nearest)
    case 'totals': {
      const totals = (seen.totals ?? {}) as Members
      const problem = totalsProblem(totals, entry.totals as Members)
      if (problem === undefined) return held('the totals are as expected')
      return { holds: false, text: problem, nearest: totals }
    }
  }
}

const messagesAre = (count: number): string => (count === 1 ? '1 message is' : `${count} messages are`)

const held = (text: string): Verdict => ({ holds: true, text, nearest: null })

type Fits = (found: unknown, wanted: unknown, name?: string) => boolean
type Nearest = (found: Members[], wanted: Members) => Members | null

function counted(
  kind: string,
  all: Members[],
  wanted: Members,
  count: unknown,
  { fits, nearest }: { fits: Fits; nearest: Nearest },
): Verdict {
  const found = all.filter((each) => fits(each, wanted)).length
  if (count === undefined ? found > 0 : found === count)
    return held(`${found} of ${kind} ${shown(wanted)}, as expected`)
  const expected = count === undefined ? 'at least one' : String(count)
  return {
    holds: false,
    text: `${expected} of ${kind} ${shown(wanted)} was expected, and ${found} found`,
    nearest: nearest(all, wanted),
  }
}

const choosing = ['transactionId', 'subscriberId', 'workflowId', 'stepId']

function judgeStep(wanted: Members, seen: Members, fits: Fits, nearest: Nearest): Verdict {
  const steps = listIn(seen.runs).flatMap(({ transactionId, subscriberId, workflowId, steps: own }) =>
    listIn(own).map((step) => ({ transactionId, subscriberId, workflowId, ...step })),
  )
  const chosenBy = Object.fromEntries(Object.entries(wanted).filter(([name]) => choosing.includes(name)))
  const chosen = steps.filter((step) => fits(step, chosenBy))
  if (chosen.length === 0)
    return { holds: false, text: `there is no step ${shown(chosenBy)}`, nearest: nearest(steps, wanted) }
  const wrong = chosen.find((step) => !fits(step, wanted))
  if (!wrong) return held(`${chosen.length} steps are as expected`)
  return { holds: false, text: `a step ${shown(chosenBy)} is not ${shown(wanted)}`, nearest: wrong }
}

/** What is absent counts as 0. */
function totalsProblem(found: Members, wanted: Members, path = ''): string | undefined {
  for (const [name, value] of Object.entries(wanted)) {
    const at = path === '' ? name : `${path}.${name}`
    const got = found[name]
    if (isObject(value)) {
      const problem = totalsProblem(isObject(got) ? got : {}, value, at)
      if (problem !== undefined) return problem
    } else if ((got ?? 0) !== value) return `totals.${at} is ${JSON.stringify(got ?? 0)}, not ${JSON.stringify(value)}`
  }
  return undefined
}

const isTime = (name: string) => name === 'at' || name === 'from' || name === 'until' || name.endsWith('At')

interface Comparing {
  startAt: number
  patterns: Patterns
}

function isFitting(found: unknown, wanted: unknown, name: string, comparing: Comparing): boolean {
  if (typeof wanted === 'string' && typeof found === 'string') {
    if (found === wanted) return true
    if (isTime(name)) return isMoment(found, wanted, comparing.startAt)
    return isPattern(wanted) && comparing.patterns.isMatch(wanted, found)
  }
  if (Array.isArray(wanted))
    return (
      Array.isArray(found) &&
      found.length === wanted.length &&
      wanted.every((each, index) => isFitting(found[index], each, name, comparing))
    )
  if (isObject(wanted))
    return (
      isObject(found) && Object.entries(wanted).every(([key, value]) => isFitting(found[key], value, key, comparing))
    )
  return found === wanted
}

function isMoment(found: string, wanted: string, startAt: number): boolean {
  try {
    return Date.parse(found) === momentMs(wanted, startAt)
  } catch (error) {
    if (error instanceof MomentInvalid) return false
    throw error
  }
}

/** The one that meets most of what is wanted. */
function nearestOf(found: Members[], wanted: Members, fits: Fits): Members | null {
  const score = (each: Members) =>
    Object.entries(wanted).filter(([name, value]) => fits(each[name], value, name)).length
  return found.reduce<Members | null>((best, each) => (best && score(best) >= score(each) ? best : each), null)
}

const shown = (value: unknown) => JSON.stringify(value)
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const listIn = (value: unknown): Members[] => (Array.isArray(value) ? (value as Members[]) : [])
