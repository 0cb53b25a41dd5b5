import { describe, expect, test } from 'vitest'
import { judgeClicks, visitorOf } from './visits.ts'

const browser =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15'

describe('who fetched a link', () => {
  test.each<[string, string, Record<string, string>]>([
    ['person', 'GET', { 'user-agent': browser }],
    ['person', 'GET', { 'user-agent': browser, dnt: '0', purpose: 'view' }],
    ['robot', 'HEAD', { 'user-agent': browser }],
    ['robot', 'GET', {}],
    ['robot', 'GET', { 'user-agent': '  ' }],
    ['robot', 'GET', { 'user-agent': 'Mozilla/5.0' }],
    ['robot', 'GET', { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }],
    ['robot', 'GET', { 'user-agent': 'curl/8.5.0' }],
    ['robot', 'GET', { 'user-agent': `${browser} Proofpoint` }],
    ['unwanted', 'GET', { 'user-agent': browser, purpose: 'prefetch' }],
    ['unwanted', 'GET', { 'user-agent': browser, 'sec-purpose': 'prefetch;prerender' }],
    ['unwanted', 'GET', { 'user-agent': browser, 'x-moz': 'Prefetch' }],
    ['unwanted', 'GET', { 'user-agent': browser, 'sec-gpc': '1' }],
    ['unwanted', 'HEAD', { dnt: '1' }],
  ])('%s: %s with %j', (expected, method, headers) => {
    expect(visitorOf(method, headers, { isImage: false })).toBe(expected)
  })

  test('proxies of webmail fetch an image when a person opens the mail', () => {
    const agent = 'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)'
    expect(visitorOf('GET', { 'user-agent': agent }, { isImage: true })).toBe('person')
    expect(visitorOf('GET', { 'user-agent': agent }, { isImage: false })).toBe('robot')
    expect(visitorOf('HEAD', { 'user-agent': agent }, { isImage: true })).toBe('robot')
  })
})

describe('which links a person followed', () => {
  const sent = new Date('2026-05-01T10:00:00.000Z')
  const at = (ms: number) => new Date(sent.getTime() + ms)
  const judged = (...times: Array<[url: string, first: number, last?: number]>) => {
    const links = times.map(([url, first, last = first]) => ({ url, first: at(first), last: at(last) }))
    const { clicks, robotAt } = judgeClicks(links, sent)
    return [
      clicks.map(({ url }) => url).join(''),
      robotAt === undefined ? undefined : robotAt.getTime() - sent.getTime(),
    ]
  }

  test.each<[string, Array<[string, number, number?]>, string, number | undefined]>([
    ['one', [['a', 9_000]], 'a', undefined],
    [
      'two at once',
      [
        ['a', 9_000],
        ['b', 9_000],
      ],
      'ab',
      undefined,
    ],
    [
      'three, each after more than a second',
      [
        ['a', 9_000],
        ['b', 10_500],
        ['c', 12_000],
      ],
      'abc',
      undefined,
    ],
    [
      'three within two seconds',
      [
        ['a', 9_000],
        ['b', 10_000],
        ['c', 11_000],
      ],
      '',
      9_000,
    ],
    [
      'one of many, later than the others',
      [
        ['a', 9_000],
        ['b', 9_100],
        ['c', 9_200],
        ['d', 12_000],
      ],
      'd',
      9_000,
    ],
    ['the same one three times', [['a', 9_000, 9_100]], 'a', undefined],
    ['within two seconds of the sending', [['a', 1_999]], '', 1_999],
    ['just after', [['a', 2_000]], 'a', undefined],
    ['by a scanner, and then by a person', [['a', 500, 6_000]], 'a', 500],
    [
      'all by a robot, one by a person too',
      [
        ['a', 9_000, 13_000],
        ['b', 9_000],
        ['c', 9_000],
      ],
      'a',
      9_000,
    ],
    ['none', [], '', undefined],
  ])('%s', (_, times, clicks, robotAt) => {
    expect(judged(...times)).toEqual([clicks, robotAt])
  })
})
