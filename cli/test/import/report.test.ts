// What the report keeps of many that are alike. files.md §6.
import { describe, expect, test } from 'vitest'
import { Report } from '../../src/import/report.ts'

const failed = { kind: 'subscribers', path: '', code: 'validation', why: 'email must be an email' }
const words = { isApplied: true, hasFiles: false }

describe('entries of data', () => {
  test('name everybody who was not taken, in JSON and Markdown, also after an interruption', () => {
    let report = new Report('csv')
    for (const id of ['a1', 'a2']) report.unmapped({ ...failed, id })
    report = Report.from(JSON.parse(JSON.stringify(report.toJson())))
    report.unmapped({ ...failed, id: 'a3|x\ny' })
    expect(report.toJson().unmapped).toEqual([{ ...failed, id: 'a1', count: 3, ids: ['a1', 'a2', 'a3|x\ny'] }])
    const text = report.toMarkdown(words)
    expect(text).toContain('| subscribers | a1 and 2 more |')
    expect(text).toContain('\nsubscribers, validation, email must be an email: a1, a2, a3\\|x y\n')
  })

  test('one alone has no list', () => {
    const report = new Report('csv')
    report.unmapped({ ...failed, id: 'a1' })
    expect(report.toJson().unmapped).toEqual([{ ...failed, id: 'a1' }])
  })

  test('keep 10,000 ids, and 100 where only a part was not taken; the count is whole', () => {
    const report = new Report('csv')
    for (let n = 0; n < 10_500; n += 1) {
      report.unmapped({ ...failed, id: `u${n}` })
      report.unmapped({ ...failed, id: `u${n}`, path: 'shoe', code: 'no_map' })
    }
    const [whole, part] = report.toJson().unmapped
    expect([whole?.count, whole?.ids?.length, whole?.ids?.at(-1)]).toEqual([10_500, 10_000, 'u9999'])
    expect([part?.count, part?.ids?.length]).toEqual([10_500, 100])
    expect(report.toMarkdown(words)).toContain('u9999 and 500 more')
  })

  test('with a sentence of their own are told apart up to 100; the others are one entry with their ids', () => {
    let report = new Report('csv')
    for (let n = 0; n < 300; n += 1) {
      report.unmapped({ ...failed, id: `u${n}`, why: `Subscriber: u${n} was not found` })
      if (n === 200) report = Report.from(JSON.parse(JSON.stringify(report.toJson())))
    }
    const { unmapped } = report.toJson()
    expect(unmapped).toHaveLength(101)
    expect(unmapped.at(-1)).toMatchObject({ id: 'u100', count: 200, why: 'for reasons like those above' })
    expect(unmapped.at(-1)?.ids).toEqual(Array.from({ length: 200 }, (_, n) => `u${n + 100}`))
  })
})
