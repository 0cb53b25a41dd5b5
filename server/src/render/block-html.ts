// The HTML that blocks are made of. Mail clients support tables, inline styles and little else; Outlook renders with Word,
// which ignores margins and paddings except on table cells.
import { type Emit, escapeHtml, type Run } from './run.ts'

/** HTML with placeholders that each rendering fills in. */
export type Html = (string | Emit)[]

/** Joins adjacent strings, so that a document takes a few writes rather than hundreds. */
export function toEmit(html: Html): Emit {
  const parts: Html = []
  for (const part of html) {
    const last = parts.length - 1
    if (typeof part === 'string' && typeof parts[last] === 'string') parts[last] += part
    else parts.push(part)
  }
  return (run: Run) => {
    for (const part of parts) {
      run.budget.spend(1)
      if (typeof part === 'string') run.write(part)
      else part(run)
    }
  }
}

export const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

type Declarations = Record<string, string | number | undefined>

/** A style attribute. Numbers are pixels; undefined is left out. */
export function style(declarations: Declarations, ...more: string[]): string {
  const written = Object.entries(declarations).flatMap(([name, value]) => {
    if (value === undefined || value === '') return []
    return `${name}:${typeof value === 'number' ? pixels(value) : value}`
  })
  return ` style="${[...written, ...more].join(';')}"`
}

const pixels = (value: number) => (value === 0 ? '0' : `${value}px`)

export function sides(top: number, right: number, bottom: number, left: number) {
  const isEven = top === right && right === bottom && bottom === left
  return isEven ? pixels(top) : [top, right, bottom, left].map(pixels).join(' ')
}

/** An author's CSS value, unless it could end the declaration or load something. */
export function cssValue(value: unknown, otherwise: string): string
export function cssValue(value: unknown, otherwise?: undefined): string | undefined
export function cssValue(value: unknown, otherwise?: string): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return pixels(value)
  if (typeof value !== 'string' || !/^[\w#%.,()\s+/-]{1,200}$/.test(value)) return otherwise
  return /url\s*\(|expression\s*\(/i.test(value) ? otherwise : value.trim()
}

/** A length in pixels: 12, "12" or "12px". */
export function size(value: unknown, otherwise: number): number
export function size(value: unknown, otherwise?: undefined): number | undefined
export function size(value: unknown, otherwise?: number): number | undefined {
  const number = typeof value === 'string' ? Number(/^\s*(\d{1,5}(?:\.\d{1,3})?)(?:px)?\s*$/.exec(value)?.[1]) : value
  return typeof number === 'number' && number >= 0 && number <= 10_000 ? number : otherwise
}

export function oneOf<T extends string>(value: unknown, known: readonly T[], otherwise: T): T {
  return known.find((word) => word === value) ?? otherwise
}

export const alignment = (value: unknown, otherwise: 'left' | 'center' = 'left') =>
  oneOf(value, ['left', 'center', 'right'], otherwise)

export const textAlignment = (value: unknown) =>
  oneOf(value, ['left', 'center', 'right', 'justify', 'start', 'end'], 'left')

const TABLE = '<table role="presentation" border="0" cellpadding="0" cellspacing="0"'

/** A table of one cell: the only box that keeps its background, border and padding everywhere. */
export const box = (table: string, cell: string, content: Html): Html => [
  `${TABLE}${table}><tbody><tr><td${cell}>`,
  ...content,
  '</td></tr></tbody></table>',
]

/** A full-width row with space below it. */
export const row = (align: string, marginBottom: number, content: Html): Html =>
  box(' width="100%"', ` align="${align}"${style({ padding: sides(0, 0, marginBottom, 0) })}`, content)

export const rowOfCells = (table: string, cells: Html): Html => [
  `${TABLE}${table}><tbody><tr>`,
  ...cells,
  '</tr></tbody></table>',
]

export const attribute = (name: string, value: Html): Html => [` ${name}="`, ...value, '"']

export const constant = (name: string, value: string) => ` ${name}="${escapeHtml(value)}"`
