// Files of a source as text, also packed ones. A file that cannot be read, or is not UTF-8, is wrong usage.
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip, gunzipSync } from 'node:zlib'
import { Failure, failureOfPlace } from '../failure.ts'
import { isJson, type Json } from './members.ts'

const isPacked = (file: string) => file.endsWith('.gz')

function bytesOf(file: string): Readable {
  const bytes = createReadStream(file)
  // What fails shows where the last stream is read.
  return isPacked(file) ? pipeline(bytes, createGunzip(), () => {}) : bytes
}

const decoderOf = () => new TextDecoder('utf-8', { fatal: true })

/** One piece after the other, however large the file is, without a byte order mark. */
export async function* textOf(file: string): AsyncGenerator<string> {
  const decoder = decoderOf()
  try {
    for await (const chunk of bytesOf(file)) {
      const text = decoder.decode(chunk as Buffer, { stream: true })
      if (text !== '') yield text
    }
    decoder.decode()
  } catch (error) {
    throw isWrongEncoding(error) ? notUtf8(file, await wrongLineOf(file)) : unreadable(file, error)
  }
}

/** The lines of a file, the first being 1. */
export async function* textLinesOf(file: string): AsyncGenerator<{ line: string; place: number }> {
  let place = 0
  let pieces: string[] = []
  const whole = (last: string) => {
    place += 1
    const line = [...pieces, last].join('')
    pieces = []
    return { line: line.endsWith('\r') ? line.slice(0, -1) : line, place }
  }
  for await (const text of textOf(file)) {
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      yield whole(text.slice(from, end))
      from = end + 1
    }
    if (from < text.length) pieces.push(text.slice(from))
  }
  if (pieces.length > 0) yield whole('')
}

/** For definitions: all of it at once. */
export function wholeTextOf(file: string): string {
  try {
    const bytes = readFileSync(file)
    return decoderOf().decode(isPacked(file) ? gunzipSync(bytes) : bytes)
  } catch (error) {
    throw isWrongEncoding(error) ? notUtf8(file) : unreadable(file, error)
  }
}

export function jsonObjectIn(file: string): Json {
  const value = jsonIn(file)
  if (!isJson(value)) throw new Failure('usage', 'not_readable', `${file} is no JSON object`)
  return value
}

/** What a file of JSON says. */
export function jsonIn(file: string): unknown {
  const text = wholeTextOf(file)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Failure('usage', 'not_readable', `${file} is no JSON: ${(error as Error).message}`)
  }
}

export function mustBeFolder(folder: string): void {
  if (!existsSync(folder)) throw new Failure('usage', 'no_files', `There is no ${folder}`)
  if (!statSync(folder).isDirectory()) throw new Failure('usage', 'no_files', `${folder} is no folder`)
}

export function mustBeFile(file: string): void {
  if (!existsSync(file)) throw new Failure('usage', 'no_files', `There is no ${file}`)
  if (statSync(file).isDirectory()) throw new Failure('usage', 'no_files', `${file} is a folder, not a file`)
}

/** Changes with the size or the time of any of these files, or of those in these folders. Hidden ones do not count. */
export function stampOf(places: string[]): string {
  const hash = createHash('sha256')
  const add = (place: string) => {
    const { size, mtimeMs } = statSync(place)
    hash.update(JSON.stringify([place, size, mtimeMs]))
  }
  for (const place of places.map((each) => path.resolve(each))) {
    if (!statSync(place).isDirectory()) add(place)
    else
      for (const name of readdirSync(place, { recursive: true, encoding: 'utf8' }).sort()) {
        const isHidden = name.split(path.sep).some((part) => part.startsWith('.'))
        // A link may lead nowhere.
        const isFile = statSync(path.join(place, name), { throwIfNoEntry: false })?.isFile()
        if (!isHidden && isFile) add(path.join(place, name))
      }
  }
  return hash.digest('hex')
}

const codeOf = (error: unknown) => (error as { code?: unknown }).code

const isWrongEncoding = (error: unknown) => codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA'

const notUtf8 = (file: string, line?: number) =>
  new Failure(
    'usage',
    'not_utf8',
    `${file} is not UTF-8${line === undefined ? '' : `: line ${line} has other bytes`}. Save it as UTF-8, and import again`,
  )

/** The first line that is not UTF-8. */
async function wrongLineOf(file: string): Promise<number | undefined> {
  let place = 1
  let pieces: Buffer[] = []
  for await (const chunk of bytesOf(file)) {
    const bytes = chunk as Buffer
    let from = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      if (!isUtf8(Buffer.concat([...pieces, bytes.subarray(from, end)]))) return place
      place += 1
      pieces = []
      from = end + 1
    }
    pieces.push(bytes.subarray(from))
  }
  return isUtf8(Buffer.concat(pieces)) ? undefined : place
}

/** Faults of our own are not made into wrong usage. */
function unreadable(file: string, error: unknown): unknown {
  const code = codeOf(error)
  if (typeof code !== 'string' || !(error instanceof Error)) return error
  const why = code.startsWith('Z_') ? `it is no whole gzip file (${error.message})` : error.message
  // Where the place is wrong, it says so itself.
  return (
    failureOfPlace(Object.assign(error, { path: file })) ??
    new Failure('usage', 'not_readable', `${file} cannot be read: ${why}`)
  )
}
