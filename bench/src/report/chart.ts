// Draws charts as SVG: bar groups, lines, and small panels. Each has its own background and colours for light and dark, so
// it is readable on any page.

/** CSS classes of the style sheet below: ours stands out, references stay in the background. */
export type Tone = 'ours' | 'reference' | 'second' | 'third' | 'bad'

export interface Bar {
  label: string
  value: number
  /** The value's label beside the bar. */
  text: string
  tone: Tone
  /** A line across the bar: the target. */
  mark?: number
}

export interface Line {
  name: string
  tone: Tone
  points: Array<{ x: number; y: number }>
}

export interface Axis {
  label: string
  scale: 'linear' | 'log'
  format: (value: number) => string
  /** Tick positions; computed from the values by default. */
  ticks?: number[]
}

const width = 760
const padding = 24
const headHeight = 72
const text = { title: 16, note: 12, label: 12.5 }

const palette = {
  light: {
    ...{ card: '#ffffff', edge: '#e4e4e7', title: '#18181b', label: '#3f3f46', note: '#71717a', grid: '#ececf0' },
    ...{ ours: '#4f46e5', reference: '#c4c6d0', second: '#0d9488', third: '#d97706', bad: '#dc2626', mark: '#18181b' },
  },
  dark: {
    ...{ card: '#18181b', edge: '#34343a', title: '#fafafa', label: '#d4d4d8', note: '#a1a1aa', grid: '#2c2c31' },
    ...{ ours: '#818cf8', reference: '#55565f', second: '#2dd4bf', third: '#fbbf24', bad: '#f87171', mark: '#fafafa' },
  },
}

function styleSheet(): string {
  const rules = (colours: (typeof palette)['light']) => `
    .card { fill: ${colours.card}; stroke: ${colours.edge} }
    .title { fill: ${colours.title}; font-size: ${text.title}px; font-weight: 600 }
    .label { fill: ${colours.label} }
    .note { fill: ${colours.note}; font-size: ${text.note}px }
    .grid { stroke: ${colours.grid} }
    .mark { stroke: ${colours.mark}; stroke-width: 2 }
    ${(['ours', 'reference', 'second', 'third', 'bad'] as const)
      .map((tone) => `.${tone} { fill: ${colours[tone]} } .line.${tone}, .dot.${tone} { stroke: ${colours[tone]} }`)
      .join('\n    ')}
    .line { fill: none }
    .dot { fill: ${colours.card} }`
  return `<style>
    text { font-family: ui-sans-serif, system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; font-size: ${text.label}px; font-variant-numeric: tabular-nums }
    .end { text-anchor: end }
    .middle { text-anchor: middle }
    .line { stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round }
    .dot { stroke-width: 2.25 }
    ${rules(palette.light)}
    @media (prefers-color-scheme: dark) {${rules(palette.dark)}
    }
  </style>`
}

interface Head {
  title: string
  /** One sentence: what the chart shows, and in which unit. */
  note: string
}

function card({ title, note }: Head, height: number, parts: string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
  ${styleSheet()}
  <rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="12"/>
  ${write(title, padding, 34, 'title')}
  ${write(note, padding, 54, 'note')}
  ${parts.join('\n  ')}
</svg>
`
}

// ---- Bars ----

const barHeight = 16
const barGap = 5
const groupGap = 20
const labelWidth = 262
const valueWidth = 92

/** Groups of bars on one scale that starts at zero. */
export function barChart(head: Head, groups: Array<{ name: string; bars: Bar[] }>): string {
  const values = groups.flatMap(({ bars }) => bars.flatMap(({ value, mark }) => [value, mark ?? 0]))
  const room = width - 2 * padding - labelWidth - valueWidth
  const scale = (value: number) => (value / Math.max(...values)) * room
  const left = padding + labelWidth
  const parts: string[] = []
  let y = headHeight + 6
  for (const { name, bars } of groups) {
    parts.push(write(name, padding, y + 8, 'label', 600))
    y += 18
    for (const { label, value, text: written, tone, mark } of bars) {
      const middle = y + barHeight / 2 + 4.5
      parts.push(
        write(label, left - 12, middle, 'label end'),
        `<rect class="${tone}" x="${left}" y="${y}" width="${place(Math.max(scale(value), 2))}" height="${barHeight}" rx="3"/>`,
        write(written, left + Math.max(scale(value), mark === undefined ? 0 : scale(mark)) + 9, middle, 'label'),
      )
      if (mark !== undefined)
        parts.push(
          `<path class="mark" d="M${place(left + scale(mark))} ${y - 3}v${barHeight + 6}"><title>target</title></path>`,
        )
      y += barHeight + barGap
    }
    y += groupGap - barGap
  }
  return card(head, y + padding - groupGap + 8, parts)
}

/** The ratio of each value to its target on a logarithmic scale; below 1 is red. */
export function distanceChart(head: Head, rows: Array<{ label: string; value: number; text: string }>): string {
  const [least, most] = [0.25, 8]
  const room = width - 2 * padding - labelWidth - valueWidth
  const left = padding + labelWidth
  const at = (value: number) =>
    left + (Math.log2(Math.min(most, Math.max(least, value)) / least) / Math.log2(most / least)) * room
  const top = headHeight + 18
  const bottom = top + rows.length * 26
  const grid = [0.25, 0.5, 1, 2, 4, 8].flatMap((value) => [
    `<path class="${value === 1 ? 'mark' : 'grid'}" d="M${place(at(value))} ${top - 6}V${bottom}"/>`,
    write(value === 1 ? 'target' : value === most ? '8× and more' : `${value}×`, at(value), top - 12, 'note middle'),
  ])
  const bars = rows.flatMap(({ label, value, text: written }, row) => {
    const y = top + row * 26 + 4
    const [from, to] = [Math.min(at(1), at(value)), Math.max(at(1), at(value))]
    return [
      write(label, left - 12, y + 12.5, 'label end'),
      `<rect class="${value >= 1 ? 'second' : 'bad'}" x="${place(from)}" y="${y}" width="${place(Math.max(2, to - from))}" height="${barHeight}" rx="3"/>`,
      write(written, width - padding, y + 12.5, 'label end'),
    ]
  })
  return card(head, bottom + padding - 6, [...grid, ...bars])
}

// ---- Lines ----

/** Lines on one scale, each labelled at its end. */
export function lineChart(head: Head, axes: { x: Axis; y: Axis }, lines: Line[]): string {
  const frame = { left: padding + 52, top: headHeight + 14, width: width - 2 * padding - 52 - 170, height: 232 }
  const parts = plot(frame, axes, lines)
  const ends = spread(
    lines.map(({ name, tone, points }) => ({ name, tone, y: points.at(-1)?.y ?? 0 })),
    (y) => scaleOf(frame, axes, lines).y(y),
  )
  for (const { name, tone, at } of ends)
    parts.push(
      `<rect class="${tone}" x="${frame.left + frame.width + 18}" y="${place(at - 5)}" width="10" height="10" rx="2"/>`,
      write(name, frame.left + frame.width + 34, at + 4.5, 'label'),
    )
  return card(head, frame.top + frame.height + 62, parts)
}

export interface Panel {
  title: string
  lines: Line[]
  format: (value: number) => string
}

/** Small charts with a shared x axis, two per row. */
export function panelChart(head: Head, x: Axis, panels: Panel[]): string {
  const gap = 40
  const inner = (width - 2 * padding - gap) / 2
  const rowHeight = 168
  const parts = panels.flatMap(({ title, lines, format }, number) => {
    const left = padding + (number % 2) * (inner + gap)
    const top = headHeight + 12 + Math.floor(number / 2) * rowHeight
    const frame = { left: left + 44, top: top + 22, width: inner - 44, height: 92 }
    const names = lines.length > 1 ? lines : []
    return [
      write(title, left, top + 6, 'label', 600),
      ...names.flatMap(({ name, tone }, place_) => [
        `<rect class="${tone}" x="${left + inner - 76 * (names.length - place_)}" y="${top - 3}" width="9" height="9" rx="2"/>`,
        write(name, left + inner - 76 * (names.length - place_) + 14, top + 6, 'note'),
      ]),
      ...plot(frame, { x, y: { label: '', scale: 'linear', format } }, lines, { dots: false }),
    ]
  })
  return card(head, headHeight + 12 + Math.ceil(panels.length / 2) * rowHeight + 8, parts)
}

interface Frame {
  left: number
  top: number
  width: number
  height: number
}

function scaleOf({ left, top, width: wide, height }: Frame, { x, y }: { x: Axis; y: Axis }, lines: Line[]) {
  const points = lines.flatMap((line) => line.points)
  const xs = points.map((point) => point.x)
  const most = niceTop(Math.max(...points.map((point) => point.y)))
  const along = x.scale === 'log' ? Math.log10 : (value: number) => value
  const [first, last] = [along(Math.min(...xs)), along(Math.max(...xs))]
  return {
    most,
    x: (value: number) => left + (last === first ? 0.5 : (along(value) - first) / (last - first)) * wide,
    y: (value: number) => top + height - (value / most) * height,
    format: y.format,
  }
}

/** The axes start at zero, so that slopes are honest. */
function plot(frame: Frame, axes: { x: Axis; y: Axis }, lines: Line[], { dots } = { dots: true }): string[] {
  const scale = scaleOf(frame, axes, lines)
  const { left, top, width: wide, height } = frame
  const steps = dots ? [0, 0.25, 0.5, 0.75, 1] : [0, 0.5, 1]
  const grid = steps.flatMap((share) => [
    `<path class="grid" d="M${left} ${place(scale.y(share * scale.most))}h${place(wide)}"/>`,
    write(axes.y.format(share * scale.most), left - 10, scale.y(share * scale.most) + 4, 'note end'),
  ])
  const xs = axes.x.ticks ?? [...new Set(lines.flatMap((line) => line.points.map((point) => point.x)))]
  // Align the last label with the end of the lines, so that it stays on the card.
  const side = (value: number) => (!dots && scale.x(value) > left + wide - 10 ? 'note end' : 'note middle')
  const ticks = xs.map((value) => write(axes.x.format(value), scale.x(value), top + height + 18, side(value)))
  const drawn = lines.flatMap(({ tone, points }) => {
    const at = points.map((point) => `${place(scale.x(point.x))} ${place(scale.y(point.y))}`)
    const circles = points.map(
      (point) => `<circle class="dot ${tone}" cx="${place(scale.x(point.x))}" cy="${place(scale.y(point.y))}" r="4"/>`,
    )
    return [`<path class="line ${tone}" d="M${at.join('L')}"/>`, ...(dots ? circles : [])]
  })
  const label = axes.x.label === '' ? [] : [write(axes.x.label, left + wide / 2, top + height + 38, 'note middle')]
  return [...grid, ...ticks, ...label, ...drawn]
}

/** Moves overlapping labels apart. */
function spread(ends: Array<{ name: string; tone: Tone; y: number }>, at: (y: number) => number) {
  let last = -Infinity
  return ends
    .map((end) => ({ ...end, at: at(end.y) }))
    .toSorted((a, b) => a.at - b.at)
    .map((end) => {
      last = Math.max(end.at, last + 20)
      return { ...end, at: last }
    })
}

/** The next round number, so that ticks are round too. */
export function niceTop(value: number): number {
  if (!(value > 0)) return 1
  const unit = 10 ** Math.floor(Math.log10(value))
  const step = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].find((candidate) => candidate * unit >= value * 1.04)
  return (step ?? 20) * unit
}

const place = (value: number) => Number(value.toFixed(1))

const write = (content: string, x: number, y: number, kind: string, weight?: number) =>
  `<text class="${kind}" x="${place(x)}" y="${place(y)}"${weight ? ` font-weight="${weight}"` : ''}>${escaped(content)}</text>`

const escaped = (content: string) =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
