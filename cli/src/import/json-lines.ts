// A file with one JSON value a line. A line that cannot be read is reported, and the others are taken.
import { createReadStream, existsSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Intake } from './intake.ts'
import type { Json } from './members.ts'

export async function* linesOf(file: string, intake: Intake): AsyncGenerator<Json> {
  if (!existsSync(file)) return
  let place = 0
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    place += 1
    if (line.trim() === '') continue
    try {
      yield JSON.parse(line) as Json
    } catch {
      intake.report.unmapped({
        ...{ kind: 'file', id: path.basename(file), path: `line ${place}`, code: 'not_readable' },
        why: 'the line is not JSON',
      })
    }
  }
}
