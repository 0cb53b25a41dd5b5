// Reads a source without a service: what would be defined and sent, and what the report says.

import type { ImportSource } from '../../src/commands/import.ts'
import { Intake, type Sink } from '../../src/import/intake.ts'
import type { Json } from '../../src/import/members.ts'
import { Report, type ReportJson } from '../../src/import/report.ts'
import { Terminal } from '../../src/terminal.ts'

export interface Read {
  report: ReportJson
  /** By kind and id. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  definitions: Record<string, any>
  /** By kind. */
  items: Record<string, Json[]>
  /** What did not map, each as `kind id path code`. */
  listed: string[]
}

export async function read(source: ImportSource, { isDry = true } = {}): Promise<Read> {
  const items: Record<string, Json[]> = {}
  const sink: Sink = {
    add(kind, item) {
      items[kind] ??= []
      items[kind].push(item)
    },
  }
  const intake = new Intake(new Report(source.name), sink)
  await source.read(intake, new Terminal({ quiet: true }, {}), { isDry })
  const definitions = intake.definitions().map(({ kind, id, definition }) => [`${kind} ${id}`, definition] as const)
  const report = intake.report.toJson()
  return {
    ...{ report, items, definitions: Object.fromEntries(definitions) },
    listed: report.unmapped.map(({ kind, id, path, code }) => `${kind} ${id} ${path} ${code}`.replaceAll('  ', ' ')),
  }
}

/** A member with a name of its own in every object, and where each was put. @param left members that stay as they are */
export function plant<T>(
  value: T,
  left: string[] = [],
): { planted: T; places: Array<{ name: string; path: string[] }> } {
  const places: Array<{ name: string; path: string[] }> = []
  const walk = (given: unknown, path: string[]): unknown => {
    if (Array.isArray(given)) return given.map((each, index) => walk(each, [...path, String(index)]))
    if (typeof given !== 'object' || given === null) return given
    const members = Object.entries(given)
    // Extended JSON is a value.
    if (members.some(([name]) => name.startsWith('$') && name !== '$schema')) return given
    const name = `planted${places.length}`
    places.push({ name, path })
    return {
      ...Object.fromEntries(
        members.map(([key, member]) => [key, left.includes(key) ? member : walk(member, [...path, key])]),
      ),
      [name]: name,
    }
  }
  return { planted: walk(value, []) as T, places }
}

/** Those that are neither in what was made, nor listed, nor below something that is listed as a whole. */
export function unaccounted(
  places: Array<{ name: string; path: string[] }>,
  { report, definitions, items }: Read,
  wholes: string[] = [],
): string[] {
  const text = JSON.stringify([report, definitions, items])
  const last = new Set([...report.changed, ...report.unmapped].map(({ path }) => path.split('.').at(-1) ?? ''))
  for (const whole of wholes) if (!last.has(whole)) throw new Error(`The report does not list ${whole}`)
  return places
    .filter(({ name, path }) => !new RegExp(`\\b${name}\\b`).test(text) && !path.some((each) => wholes.includes(each)))
    .map(({ name, path }) => [...path, name].join('.'))
}
