import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { charts } from './charts.ts'
import type { Figure, Series } from './figures.ts'
import { fillPage, pagesOf } from './page.ts'
import { describeMachine, type Result, readResults, writeResult } from './results.ts'

const machine = {
  cores: 2,
  memoryGiB: 8,
  system: 'linux 6 arm64',
  node: 'v20.20.2',
  postgres: '18.4',
  loadBefore: 0.25,
}
const mails: Figure = {
  ...{ id: 'smtp', name: 'mails', unit: '/s', ours: 900, reference: 3_000, against: 'directly' },
  target: { oursAtLeast: 1_500 },
}
const accepted: Figure = {
  ...{ id: 'accepted', name: 'accepted', unit: '/s', ours: 90, reference: 100, against: 'without work' },
  target: { atLeast: 0.85 },
}

function resultOf(suite: string, figures: Figure[], series?: Record<string, Series>): Result {
  const common = {
    suite,
    date: '2026-11-15T10:00:00.000Z',
    commit: 'abc1234',
    machine,
    notes: { minutes: 60, cores: 2 },
  }
  return { ...common, figures, ...(series ? { series } : {}) }
}
const resultsOf = (...results: Result[]) => new Map(results.map((result) => [result.suite, result]))

describe('the page', () => {
  const page =
    '# Title\n\n<!-- bench: accepting smtp -->\nold\n<!-- end -->\n\nProse.\n\n<!-- bench: inbox -->\n<!-- end -->\n'

  test('gets the tables of the suites it names, and keeps its prose', () => {
    const filled = fillPage(page, resultsOf(resultOf('smtp', [mails]), resultOf('accepting', [accepted])))
    expect(filled).toBe(`# Title

<!-- bench: accepting smtp -->
| figure | ours | reference | ratio | target | holds |
|---|---|---|---|---|---|
| accepted | 90/s | 100/s: without work | 0.9× | ≥ 0.85× | ✓ |
| mails | 900/s | 3,000/s: directly | 0.3× | ≥ 1,500/s | ✗ |

<sub>Measured: accepting, smtp on 2026-11-15 at \`abc1234\`, load before it 0.25.</sub>
<!-- end -->

Prose.

<!-- bench: inbox -->
Not measured yet: \`npm run bench inbox\`.
<!-- end -->
`)
  })

  test('does not change when filled with the same results again', () => {
    const results = resultsOf(resultOf('smtp', [mails]))
    const filled = fillPage(page, results)
    expect(fillPage(filled, results)).toBe(filled)
  })

  test('says how many targets hold, which do not, and on which machine', () => {
    const summary = '<!-- bench: summary -->\n<!-- end -->\n'
    const filled = fillPage(summary, resultsOf(resultOf('smtp', [mails]), resultOf('accepting', [accepted])))
    expect(filled).toContain('**1 of 2 targets hold.** These do not:')
    expect(filled).toContain('| mails | 900/s |')
    expect(filled).not.toContain('| accepted |')
    expect(filled).toContain('2 cores (linux 6 arm64), 8 GiB, Node.js 20.20.2, PostgreSQL 18.4')
    expect(fillPage(summary, resultsOf(resultOf('accepting', [accepted])))).toContain(
      '**1 of 1 targets hold.** None is missed.',
    )
  })

  test('shows the charts that have results', () => {
    const two = '<!-- chart: throughput -->\n<!-- end -->\n<!-- chart: soak -->\n<!-- end -->\n'
    expect(fillPage(two, resultsOf(resultOf('smtp', [mails])))).toBe(`<!-- chart: throughput -->
![Throughput compared with references](images/bench-throughput.svg)
<!-- end -->
<!-- chart: soak -->
There are no results to draw yet.
<!-- end -->
`)
  })

  test('of this project has a place for every measured suite and every chart', () => {
    const root = path.resolve(import.meta.dirname, '../../..')
    const text = readFileSync(path.join(root, 'docs/performance.md'), 'utf8')
    const places = [...text.matchAll(/^<!-- bench: (.*?) -->$/gm)].flatMap(([, names = '']) => names.split(' '))
    const pictures = [...text.matchAll(/^<!-- chart: (.*?) -->$/gm)].map(([, name]) => `docs/images/bench-${name}.svg`)
    expect(places).toEqual(expect.arrayContaining([...readResults(path.join(root, 'bench/results')).keys()]))
    expect(pictures).toEqual(
      expect.arrayContaining([...pagesOf(root).keys()].filter((file) => file.startsWith('docs/images/'))),
    )
  })
})

describe('charts', () => {
  const point = {
    minute: 1,
    memoryMb: 100,
    heapMb: 50,
    connections: 20,
    standingMb: 2,
    deadShare: 3,
    p50Ms: 4,
    p99Ms: 9,
  }
  const all = resultsOf(
    resultOf('smtp', [mails, { ...mails, id: 'odd', name: 'a < b & "c"' }]),
    resultOf('accepting', [accepted]),
    resultOf('latency', [{ ...mails, id: 'p50', unit: 'ms', target: { oursAtMost: 950 } }]),
    resultOf('growth', [], {
      growth: [
        { stored: 1_000, serviceMs: 0.3, databaseMs: 0.2 },
        { stored: 10_000_000, serviceMs: 0.3, databaseMs: 0.2 },
      ],
    }),
    resultOf('workers', [], { workers: [{ workers: 1, perSecond: 10, serviceMs: 1, databaseMs: 1 }] }),
    // Without processor times, as on systems that do not report them.
    resultOf('soak', [], { samples: [point, { ...point, minute: 60 }] }),
  )

  test('are drawn from the results, well-formed and without NaN', () => {
    const drawn = charts(all)
    expect([...drawn.keys()]).toEqual(['targets', 'throughput', 'latency', 'growth', 'workers', 'soak'])
    for (const [name, { svg }] of drawn) {
      expect({ name, open: opened(svg) }).toEqual({ name, open: [] })
      expect(svg).not.toMatch(/NaN|Infinity|undefined/)
      expect(svg).toContain('prefers-color-scheme: dark')
    }
  })

  test('draw values in proportion', () => {
    const widths = [
      ...(charts(all).get('throughput')?.svg ?? '').matchAll(/<rect class="(?:ours|reference)".* width="([\d.]+)"/g),
    ]
    const [own = 0, reference = 0] = widths.map(([, width]) => Number(width)).slice(-2)
    expect(own / reference).toBeCloseTo(900 / 3_000, 2)
  })

  test('are omitted without results', () => {
    expect(charts(new Map()).size).toBe(0)
  })
})

describe('results', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'belfry-results-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('are stored with the machine and read back', () => {
    const { figures, ...rest } = resultOf('smtp', [mails], { points: [{ x: 1, y: 0.123456789 }] })
    const file = writeResult(folder, { ...rest, figures })
    expect(readFileSync(file, 'utf8')).toContain('{ "x": 1, "y": 0.12346 }')
    expect(readResults(folder).get('smtp')).toEqual({
      ...rest,
      figures: [{ ...mails, ratio: 0.3, holds: false }],
      series: { points: [{ x: 1, y: 0.12346 }] },
    })
  })

  test('name the machine', () => {
    expect(describeMachine()).toMatchObject({
      cores: expect.any(Number),
      memoryGiB: expect.any(Number),
      system: expect.stringContaining(process.arch),
      node: process.version,
      loadBefore: expect.any(Number),
    })
  })

  test('are empty for a missing folder', () => {
    expect(readResults(path.join(folder, 'missing')).size).toBe(0)
  })
})

/** Unclosed or wrongly nested elements. */
function opened(svg: string): string[] {
  const open: string[] = []
  for (const [, close, name = '', empty] of svg.matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
    if (close) {
      if (open.pop() !== name) return [`</${name}>`]
    } else if (!empty) open.push(name)
  }
  return open
}
