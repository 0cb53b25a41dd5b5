// Fills the generated parts of docs/performance.md and docs/scale.md: tables, charts and machines. Everything between `<!--
// bench: … -->` or `<!-- chart: … -->` and `<!-- end -->` is replaced; the rest is prose.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { charts } from './charts.ts'
import { cellsOf, columns, type Figure, isMet, short } from './figures.ts'
import { type Machine, type Result, readResults } from './results.ts'
import { sizing } from './sizing.ts'

type Results = Map<string, Result>

/** File contents by path in the project. */
export function pagesOf(root: string): Map<string, string> {
  const results = readResults(path.join(root, 'bench/results'))
  const pages = ['docs/performance.md', 'docs/scale.md']
  return new Map([
    ...pages.map((page): [string, string] => [page, fillPage(readFileSync(path.join(root, page), 'utf8'), results)]),
    ...[...charts(results)].map(([name, { svg }]): [string, string] => [`docs/images/bench-${name}.svg`, svg]),
  ])
}

/** @returns the paths written */
export function writePages(root: string): string[] {
  const pages = pagesOf(root)
  mkdirSync(path.join(root, 'docs/images'), { recursive: true })
  for (const [file, text] of pages) writeFileSync(path.join(root, file), text)
  return [...pages.keys()]
}

export function fillPage(page: string, results: Results): string {
  const drawn = charts(results)
  return page.replace(
    /^<!-- (bench|chart): (.*?) -->$.*?^<!-- end -->$/gms,
    (_, kind: string, given: string) =>
      `<!-- ${kind}: ${given} -->\n${kind === 'chart' ? chartPart(given, drawn) : part(given, results)}\n<!-- end -->`,
  )
}

function part(given: string, results: Results): string {
  if (given === 'summary') return summary(results)
  if (given === 'sizing') return sizing(results)
  const names = given.split(' ')
  const found = names.flatMap((name) => results.get(name) ?? [])
  if (found.length === 0) return `Not measured yet: \`npm run bench ${names[0]}\`.`
  return `${tableOf(found.flatMap(({ figures }) => figures))}\n\n${measuredOn(found)}`
}

function chartPart(name: string, drawn: ReturnType<typeof charts>): string {
  const chart = drawn.get(name)
  return chart ? `![${chart.title}](images/bench-${name}.svg)` : 'There are no results to draw yet.'
}

function tableOf(figures: Figure[]): string {
  const rows = figures.map((figure) => `| ${cellsOf(figure).join(' | ')} |`)
  return [`| ${columns.join(' | ')} |`, `|${columns.map(() => '---').join('|')}|`, ...rows].join('\n')
}

function summary(results: Results): string {
  const figures = [...results.values()].flatMap((result) => result.figures)
  const promised = figures.filter((figure) => isMet(figure) !== undefined)
  const missed = promised.filter((figure) => !isMet(figure))
  const machines = [...new Set([...results.values()].map(({ machine }) => machineText(machine)))]
  return [
    `**${promised.length - missed.length} of ${promised.length} targets hold.** ` +
      (missed.length === 0 ? 'None is missed.' : 'These do not:'),
    ...(missed.length === 0 ? [] : [tableOf(missed)]),
    `Measured on ${machines.join('; and on ')}, which runs the service, PostgreSQL, the reference and the client that drives them.`,
  ].join('\n\n')
}

function machineText({ cpu, cores, memoryGiB, system, node, postgres }: Machine): string {
  const database = postgres ? `, PostgreSQL ${postgres}` : ''
  return `${cores} cores (${cpu ? `${cpu}, ` : ''}${system}), ${memoryGiB} GiB, Node.js ${node.replace('v', '')}${database}`
}

/** Suites measured on the same day with the same version share a sentence. */
function measuredOn(results: Result[]): string {
  const sentences = new Map<string, string[]>()
  for (const { suite, date, commit, machine } of results) {
    const at = commit ? ` at \`${commit}\`` : ''
    const load = machine.loadBefore === undefined ? '' : `, load before it ${short(machine.loadBefore)}`
    const when = `on ${date.slice(0, 10)}${at}${load}`
    sentences.set(when, [...(sentences.get(when) ?? []), suite])
  }
  const list = [...sentences].map(([when, suites]) => `${suites.join(', ')} ${when}`)
  return `<sub>Measured: ${list.join('; ')}.</sub>`
}
