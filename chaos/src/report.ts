// Prints the plan and the account.
import type { Outcome } from './chaos.ts'
import { fingerprint, type Plan } from './plan.ts'

export function planLines(plan: Plan): string[] {
  const triggers = plan.sendings.flatMap((sending) => sending.triggers)
  const kinds = [...new Set(plan.sendings.map(({ kind }) => kind))]
  const countOf = (kind: string) => plan.sendings.filter((sending) => sending.kind === kind).length
  return [
    `Seed ${plan.seed}, ${plan.minutes} minutes, plan ${fingerprint(plan)}:`,
    `  ${triggers.length} triggers in ${plan.sendings.length} requests (${kinds.map((kind) => `${countOf(kind)} ${kind}`).join(', ')}), ` +
      `${plan.sendings.filter(({ isDoubled }) => isDoubled).length} of them sent twice, ${plan.cancellings.length} cancels, ${plan.people.length} people`,
    `  ${plan.followUps.length} ends of long waits: ${tally(plan.followUps.map(({ kind }) => kind))}`,
    ...plan.faults.map(({ kind, pauseMs }, place) => `  fault ${place + 1}: after ${pauseMs} ms, ${kind}`),
  ]
}

/** "event 3, answer 2". */
const tally = (kinds: string[]): string =>
  [...new Set(kinds)].map((kind) => `${kind} ${kinds.filter((each) => each === kind).length}`).join(', ')

export function reportLines(plan: Plan, outcome: Outcome): string[] {
  const { account, faults, settledInMs, statuses, manners, deaths, logged } = outcome
  const { findings } = account
  const count = (kind: string) => findings.filter((finding) => finding.kind === kind).length
  const unknown = Object.values(account.steps).reduce((sum, step) => sum + step.unknown, 0)
  return [
    '',
    `Report of seed ${plan.seed}, ${plan.minutes} minutes, plan ${fingerprint(plan)}`,
    '',
    ...table(
      ['workflow', 'sent', 'accepted', 'runs'],
      Object.entries(account.triggers).map(([name, row]) => [name, row.sent, row.accepted, row.runs]),
    ),
    '',
    ...table(
      ['step', 'due', 'done', 'held back', 'unknown', 'lost', 'duplicated', 'taken by provider', 'taken again'],
      Object.entries(account.steps).map(([name, row]) => [
        ...[name, row.due, row.done, row.held, row.unknown, row.lost, row.duplicated, row.taken, row.again],
      ]),
    ),
    '',
    ...table(
      ['fault', 'times', 'did not come about'],
      Object.entries(faults).map(([kind, { done, missed }]) => [kind, done, missed]),
    ),
    '',
    `Process exits: ${deaths}. PostgreSQL's log: ${told(logged)}.`,
    `API answers: ${told(Object.fromEntries([...statuses].sort(([one], [other]) => one - other).map(([status, times]) => [status === 0 ? 'none' : status, times])))}.`,
    `Provider answers: ${told(manners)}.`,
    `Provider reports: ${account.reports.sent}, on ${account.reports.understood} messages. Cancelled: ${account.canceled}. Refusals: ${account.refusals}. Inboxes read: ${account.inboxes}.`,
    settledInMs === undefined
      ? 'It did not settle.'
      : `Settled ${Math.round(settledInMs / 1000)} s after the last fault.`,
    '',
    `lost ${count('lost')}, duplicated ${count('duplicated')}, wrong ${count('wrong')}, stuck ${count('stuck')}, unknown outcome ${unknown}`,
    ...findings.slice(0, 50).map(({ kind, what }) => `  ${kind}: ${what}`),
    ...(findings.length > 50 ? [`  and ${findings.length - 50} more`] : []),
  ]
}

/**
 * Faults that had enough turns and were never played: the run says nothing about them. Filling the disk needs the right to
 * mount one.
 */
export const neverPlayed = ({ faults }: Pick<Outcome, 'faults'>): string[] =>
  Object.entries(faults)
    .filter(([kind, { done, missed }]) => kind !== 'fill the disk' && done === 0 && missed >= 3)
    .map(([kind]) => kind)

/** Whether the service kept its promises, and what else to print. */
export function verdictOf(
  outcome: Pick<Outcome, 'account' | 'faults'>,
  command: string,
): { exitCode: 0 | 1; lines: string[] } {
  const missing = neverPlayed(outcome)
  if (outcome.account.findings.length === 0 && missing.length === 0) return { exitCode: 0, lines: [] }
  return {
    exitCode: 1,
    lines: [
      ...(missing.length > 0 ? [`Never played, though due: ${missing.join(', ')}`] : []),
      `Repeat it with: ${command}`,
    ],
  }
}

const told = (counts: Record<string, number | undefined>): string =>
  Object.entries(counts)
    .map(([name, times]) => `${name} ${times}`)
    .join(', ')

function table(head: string[], rows: Array<Array<string | number>>): string[] {
  const all = [head, ...rows].map((row) => row.map(String))
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const line = (row: string[]) =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  const [first = [], ...rest] = all
  return [
    line(first),
    `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`,
    ...rest.map(line),
  ]
}
