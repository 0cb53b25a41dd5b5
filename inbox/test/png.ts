// Shrinks the screenshots of the documentation to a colour palette, which is plenty for flat drawings.
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const mostColours = 256

interface Chunk {
  type: string
  data: Buffer
}

function* chunksOf(png: Buffer): Generator<Chunk> {
  for (let at = signature.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    yield { type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) }
    at += length + 12
  }
}

function write({ type, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}

/** Browsers write eight bits: red, green, blue, and sometimes alpha. */
export function shrink(png: Buffer): Buffer {
  const chunks = [...chunksOf(png)]
  const header = Buffer.from(chunks.find(({ type }) => type === 'IHDR')?.data ?? [])
  const [width, height, kind] = [header.readUInt32BE(0), header.readUInt32BE(4), header[9]]
  const bytes = kind === 6 ? 4 : 3
  const parts = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)
  const pixels = unfilter(inflateSync(Buffer.concat(parts)), { width, height, bytes })
  const counts = new Map<number, number>()
  const colourAt = (at: number) => pixels.readUIntBE(at, 3)
  for (let at = 0; at < pixels.length; at += bytes) counts.set(colourAt(at), (counts.get(colourAt(at)) ?? 0) + 1)
  const palette = choose(counts)
  const nearest = new Map<number, number>()
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0, at = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += bytes) {
      const colour = colourAt(at)
      const index = nearest.get(colour) ?? closest(palette, colour)
      nearest.set(colour, index)
      rows[y * (width + 1) + 1 + x] = index
    }
  }
  header[9] = 3
  const colours = Buffer.concat(palette.map((colour) => Buffer.from([colour >> 16, (colour >> 8) & 255, colour & 255])))
  return Buffer.concat([
    signature,
    write({ type: 'IHDR', data: header }),
    write({ type: 'PLTE', data: colours }),
    write({ type: 'IDAT', data: deflateSync(rows, { level: 9, memLevel: 9 }) }),
    write({ type: 'IEND', data: Buffer.alloc(0) }),
  ])
}

const exact = 160

/** The most frequent colours first; then the most frequent of each neighbourhood, from coarse to fine. */
function choose(counts: Map<number, number>): number[] {
  const frequent = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour)
  const chosen = new Set(frequent.slice(0, exact))
  for (const mask of [0xc0c0c0, 0xe0e0e0, 0xf0f0f0, 0xf8f8f8, 0xfcfcfc, 0xffffff]) {
    const taken = new Set([...chosen].map((colour) => colour & mask))
    for (const colour of frequent) {
      if (chosen.size === mostColours) return [...chosen]
      if (taken.has(colour & mask)) continue
      taken.add(colour & mask)
      chosen.add(colour)
    }
  }
  return [...chosen]
}

function closest(palette: number[], colour: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY]
  for (const [index, each] of palette.entries()) {
    const distance =
      ((each >> 16) - (colour >> 16)) ** 2 +
      (((each >> 8) & 255) - ((colour >> 8) & 255)) ** 2 +
      ((each & 255) - (colour & 255)) ** 2
    if (distance < least) [best, least] = [index, distance]
  }
  return best
}

function unfilter(raw: Buffer, { width, height, bytes }: { width: number; height: number; bytes: number }): Buffer {
  const line = width * bytes
  const out = Buffer.alloc(line * height)
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (line + 1)]
    for (let x = 0; x < line; x += 1) {
      const at = y * line + x
      const left = x >= bytes ? (out[at - bytes] ?? 0) : 0
      const up = y > 0 ? (out[at - line] ?? 0) : 0
      const corner = x >= bytes && y > 0 ? (out[at - line - bytes] ?? 0) : 0
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0
      out[at] = ((raw[y * (line + 1) + 1 + x] ?? 0) + guess) & 255
    }
  }
  return out
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}
