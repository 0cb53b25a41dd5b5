// A file with one JSON object a line. A line that cannot be read is listed, and the others are taken.
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Intake } from './intake.ts'
import { isJson, type Json } from './members.ts'
import { textLinesOf } from './source-file.ts'

export interface Line {
  value: Json
  /** For the report: `users.jsonl line 3`. */
  place: string
}

export async function* linesOf(file: string, intake: Intake): AsyncGenerator<Line> {
  if (!existsSync(file)) return
  const name = path.basename(file)
  for await (const { line, place } of textLinesOf(file)) {
    if (line.trim() === '') continue
    const value = parsed(line)
    if (isJson(value)) yield { value, place: `${name} line ${place}` }
    else
      intake.report.unmapped({
        ...{ kind: 'file', id: name, path: `line ${place}`, code: 'not_readable' },
        why: 'the line is no JSON object',
      })
  }
}

/** Undefined if it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
