// What shares a window: the events of a digest, the runs that a throttle lets pass, and the messages under a cap.
import type { Finding, Job, Run } from './books.ts'
import { capLimit, type Trigger, throttleThreshold } from './plan.ts'

type StepFinding = Finding & { step: string }

interface Passing {
  runs: number
  passed: number
}

export class Windows {
  /** By workflow, person and key: the events expected in digests, and those found. */
  readonly #collected = new Map<string, { due: string[]; found: string[] }>()
  /** By person and key. */
  readonly #throttled = new Map<string, Passing>()
  /** By person. */
  readonly #capped = new Map<string, Passing>()

  /** An event that a digest should contain. */
  noteEvent(trigger: Trigger, run: Run, { reason }: Job): void {
    if (reason !== 'canceled_by_user') this.#digestsOf(trigger, run).due.push(String(trigger.n))
  }

  /** @param events as the digest's message lists them */
  noteDigest(trigger: Trigger, run: Run, events: string): void {
    this.#digestsOf(trigger, run).found.push(...events.split(',').filter((each) => each !== ''))
  }

  noteThrottled(trigger: Trigger, run: Run, { status }: Job): void {
    note(this.#throttled, groupOf(trigger, run), status === 'completed')
  }

  noteCapped({ subscriber_id }: Run, { reason }: Job): void {
    note(this.#capped, subscriber_id, reason !== 'capped')
  }

  findings(): StepFinding[] {
    const throttles = [...this.#throttled].flatMap(([group, passing]) =>
      passingFindings(passing, throttleThreshold, { step: 'throttle', what: `runs of ${group} passed the throttle` }),
    )
    const caps = [...this.#capped].flatMap(([who, passing]) =>
      passingFindings(passing, capLimit, { step: 'cap', what: `messages to ${who} passed the cap` }),
    )
    return [...this.#digestFindings(), ...throttles, ...caps]
  }

  #digestsOf(trigger: Trigger, run: Run): { due: string[]; found: string[] } {
    const group = groupOf(trigger, run)
    const known = this.#collected.get(group) ?? { due: [], found: [] }
    this.#collected.set(group, known)
    return known
  }

  #digestFindings(): StepFinding[] {
    const findings: StepFinding[] = []
    const find = (kind: Finding['kind'], what: string) => findings.push({ kind, what, step: 'digest' })
    for (const [group, { due, found }] of this.#collected) {
      const counts = new Map<string, number>()
      for (const number of found) counts.set(number, (counts.get(number) ?? 0) + 1)
      for (const number of due) if (!counts.has(number)) find('lost', `event ${number} is in no digest of ${group}`)
      for (const [number, count] of counts) {
        if (!due.includes(number)) find('duplicated', `event ${number} is in a digest of ${group} by mistake`)
        else if (count > 1) find('duplicated', `event ${number} is ${count} times in digests of ${group}`)
      }
    }
    return findings
  }
}

const groupOf = ({ workflow, key }: Trigger, { subscriber_id }: Run): string => `${workflow} ${subscriber_id} ${key}`

function note(groups: Map<string, Passing>, group: string, hasPassed: boolean): void {
  const { runs, passed } = groups.get(group) ?? { runs: 0, passed: 0 }
  groups.set(group, { runs: runs + 1, passed: passed + (hasPassed ? 1 : 0) })
}

function passingFindings(
  { runs, passed }: Passing,
  limit: number,
  { step, what }: { step: string; what: string },
): StepFinding[] {
  const expected = Math.min(runs, limit)
  if (passed === expected) return []
  const kind = passed < expected ? 'lost' : 'duplicated'
  return [{ kind, what: `${passed} of ${runs} ${what}, which lets ${expected} through`, step }]
}
