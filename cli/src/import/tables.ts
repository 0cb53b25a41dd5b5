// Rows of a CSV file by the names in its first line, one after the other however large it is.
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import Papa from 'papaparse'

export async function* rowsOf(file: string): AsyncGenerator<Record<string, string>> {
  const bytes = createReadStream(file)
  const input = file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes
  const parser = Papa.parse(Papa.NODE_STREAM_INPUT, { header: true, skipEmptyLines: true })
  const failure = new Promise<never>((_, reject) => {
    for (const stream of [bytes, input]) stream.on('error', reject)
  })
  failure.catch((error: unknown) => parser.destroy(error as Error))
  for await (const row of input.pipe(parser)) yield row as Record<string, string>
}
