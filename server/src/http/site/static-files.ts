// Built files for browsers. Held in memory, compressed once (by the build, if it left `.br` and `.gz` beside a file), and
// read again when replaced.
// Not @fastify/static: it takes 55 ms of processor time at every start, reads the file for every request (1.6 ms instead of
// 0.6 ms for 200 kB), and its tags come from times of files, which differ from one machine to the next.
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const compress = promisify(gzip)

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}
const isCompressed = /\.(png|ico|woff2)$/
/** A content hash in the file name; such a file never changes. */
const hashed = /-[\w-]{8}\.\w+$/

interface StaticFile {
  bytes: Buffer
  gzipped: Buffer | undefined
  brotli: Buffer | undefined
  tag: string
  changedMs: number
}

export class StaticFiles {
  readonly #folder: string
  readonly #files = new Map<string, StaticFile>()

  constructor(folder: URL) {
    this.#folder = fileURLToPath(folder)
  }

  /** Its text, if there is such a file. */
  async text(name: string): Promise<string | undefined> {
    return (await this.#read(name))?.bytes.toString()
  }

  /** Sends the file. @returns false if there is none */
  async send(request: FastifyRequest, reply: FastifyReply, name: string, headers: object = {}): Promise<boolean> {
    const file = await this.#read(name)
    if (!file) return false
    const { bytes, gzipped, brotli, tag } = file
    reply.headers({
      'Cache-Control': hashed.test(name) ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
      'Content-Type': types[path.extname(name)] ?? 'application/octet-stream',
      ETag: tag,
      Vary: 'Accept-Encoding',
      ...headers,
    })
    const known = request.headers['if-none-match']?.split(',') ?? []
    if (known.some((each) => each.trim().replace(/^W\//, '') === tag)) {
      reply.code(304).removeHeader('Content-Type').send()
      return true
    }
    if (brotli && takes(request, 'br')) reply.header('Content-Encoding', 'br').send(brotli)
    else if (gzipped && takes(request, 'gzip')) reply.header('Content-Encoding', 'gzip').send(gzipped)
    else reply.send(bytes)
    return true
  }

  async #read(name: string): Promise<StaticFile | undefined> {
    const place = path.join(this.#folder, name)
    if (name.includes('\0') || !place.startsWith(this.#folder)) return undefined
    let changedMs: number
    try {
      const found = await stat(place)
      if (!found.isFile()) return undefined
      changedMs = found.mtimeMs
    } catch {
      return undefined
    }
    const known = this.#files.get(name)
    if (known?.changedMs === changedMs) return known
    const bytes = await readFile(place)
    const beside = (ending: string) => readFile(place + ending).catch(() => undefined)
    const isSmall = isCompressed.test(name)
    const brotli = isSmall ? undefined : await beside('.br')
    const gzipped = isSmall ? undefined : ((await beside('.gz')) ?? (await compress(bytes, { level: 9 })))
    const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
    const file = { bytes, gzipped, brotli, tag, changedMs }
    this.#files.set(name, file)
    return file
  }
}

export function takes(request: Pick<FastifyRequest, 'headers'>, encoding: 'br' | 'gzip'): boolean {
  return (request.headers['accept-encoding'] ?? '').split(',').some((each) => {
    const [name, ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
