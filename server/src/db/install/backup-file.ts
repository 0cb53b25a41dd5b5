// The file format of a backup: compressed pieces, with a checksum over all of them at the end. Only a file with the right
// checksum is a backup, so a truncated or damaged one is never accepted.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { StartError } from '../../errors.ts'

/** The first piece: where the backup is from, and what is needed to read it. */
export interface BackupHeader {
  format: 1
  createdAt: string
  /** Applied migrations of Belfry's schema and the queue's. */
  migrations: string[]
  queueMigrations: number
  /** The calendar months, `2026-11`, that have partitions. */
  months: Record<string, string[]>
  /** The last value of each sequence. */
  sequences: Record<string, string>
  /** The key that encrypts credentials, if included, and a fingerprint to compare another one with. */
  secretKey: string | null
  keyCheck: string
}

export interface BackupTable {
  /** Quoted for SQL. */
  name: string
  columns: string[]
}

export type Piece =
  | { kind: 'header'; header: BackupHeader }
  | { kind: 'table'; table: BackupTable }
  | { kind: 'rows'; chunk: Buffer }
  | { kind: 'table-end'; rows: number }

const letters = { header: 'H', table: 'T', rows: 'D', 'table-end': 'E', sum: 'Z' } as const
/** The largest piece of row data, whatever the length of the rows. */
const portion = 65_536
const largestPiece = 16 * 1024 * 1024

function encode(letter: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.write(letter, 0, 'latin1')
  head.writeUInt32BE(content.length, 1)
  return Buffer.concat([head, content])
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value))

function encodePiece(piece: Piece): Buffer {
  switch (piece.kind) {
    case 'header':
      return encode(letters.header, json(piece.header))
    case 'table':
      return encode(letters.table, json(piece.table))
    case 'rows': {
      const portions: Buffer[] = []
      for (let at = 0; at < piece.chunk.length; at += portion)
        portions.push(encode(letters.rows, piece.chunk.subarray(at, at + portion)))
      return Buffer.concat(portions)
    }
    case 'table-end':
      return encode(letters['table-end'], json({ rows: piece.rows }))
  }
}

async function* sealed(pieces: AsyncIterable<Piece>): AsyncGenerator<Buffer> {
  const sum = createHash('sha256')
  let waiting: Buffer[] = []
  let size = 0
  for await (const piece of pieces) {
    const bytes = encodePiece(piece)
    sum.update(bytes)
    waiting.push(bytes)
    size += bytes.length
    if (size < portion) continue
    yield Buffer.concat(waiting)
    waiting = []
    size = 0
  }
  yield Buffer.concat([...waiting, encode(letters.sum, sum.digest())])
}

/** The file gets its name only when it is complete and on disk. */
export async function writeBackupFile(file: string, pieces: AsyncIterable<Piece>): Promise<void> {
  if (existsSync(file)) throw new StartError(`${file} exists already; name another file.`)
  const draft = `${file}.${process.pid}.part`
  try {
    // Only the owner may read it: it holds people's messages, and usually the key to the credentials.
    const target = createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true })
    await pipeline(sealed(pieces), createGzip({ level: 1 }), target)
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    const { code = '' } = error as NodeJS.ErrnoException
    if (/^E(NOENT|ACCES|ROFS|NOTDIR|ISDIR)$/.test(code))
      throw new StartError(`${file} cannot be written.`, { cause: error })
    if (code === 'ENOSPC')
      throw new StartError(`There is not enough disk space for ${file}; the partial file was removed.`, {
        cause: error,
      })
    throw error
  }
}

const damaged = (file: string, cause?: unknown) =>
  new StartError(`${file} is damaged or was cut short; take another backup. Nothing was changed.`, { cause })

/** The pieces in order. Throws at the end if the checksum is wrong. */
export async function* readBackupFile(file: string): AsyncGenerator<Piece> {
  const sum = createHash('sha256')
  let isSealed = false
  for await (const { letter, bytes, content } of rawPieces(file)) {
    if (isSealed) throw damaged(file)
    if (letter === letters.sum) {
      isSealed = sum.digest().equals(content)
      if (!isSealed) throw damaged(file)
      continue
    }
    sum.update(bytes)
    yield decodePiece(file, letter, content)
  }
  if (!isSealed) throw damaged(file)
}

function decodePiece(file: string, letter: string, content: Buffer): Piece {
  try {
    const text = () => JSON.parse(content.toString())
    switch (letter) {
      case letters.header:
        return { kind: 'header', header: text() }
      case letters.table:
        return { kind: 'table', table: text() }
      case letters.rows:
        return { kind: 'rows', chunk: content }
      case letters['table-end']:
        return { kind: 'table-end', ...text() }
    }
  } catch (cause) {
    throw damaged(file, cause)
  }
  throw damaged(file)
}

interface RawPiece {
  letter: string
  bytes: Buffer
  content: Buffer
}

async function* rawPieces(file: string): AsyncGenerator<RawPiece> {
  const source = createReadStream(file)
  const clear = createGunzip()
  const flow = pipeline(source, clear)
  // The failure is reported below, where the pieces are read.
  flow.catch(() => undefined)
  let rest: Buffer = Buffer.alloc(0)
  try {
    for await (const chunk of clear) {
      rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer])
      let at = 0
      while (rest.length - at >= 5) {
        const length = rest.readUInt32BE(at + 1)
        if (length > largestPiece) throw damaged(file)
        if (rest.length - at < 5 + length) break
        const bytes = rest.subarray(at, at + 5 + length)
        yield { letter: bytes.toString('latin1', 0, 1), bytes, content: bytes.subarray(5) }
        at += bytes.length
      }
      rest = rest.subarray(at)
    }
    await flow
  } catch (cause) {
    if (cause instanceof StartError) throw cause
    const { code = '' } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new StartError(`There is no file ${file}.`)
    if (code.startsWith('Z_')) throw damaged(file, cause)
    throw new StartError(`${file} cannot be read.`, { cause })
  } finally {
    source.destroy()
    clear.destroy()
  }
  if (rest.length > 0) throw damaged(file)
}
