import { describe, expect, test } from 'vitest'
import { renderTemplate, situation } from './liquid.ts'

const now = new Date('2026-05-06T07:08:09.000Z')
const data = {
  payload: {
    names: ['John', 'Josh', 'Sarah', 'Al'],
    two: ['A', 'B'],
    one: ['A'],
    none: [],
    people: [{ name: 'Ann' }, { name: { first: 'Bob' } }, { name: 3 }, { name: true }, { name: {} }, {}],
    settings: { a: 1, b: 'say "hi"' },
    text: 'x',
    at: '2026-01-02T03:04:05Z',
    nothing: null,
  },
  steps: {
    d: {
      eventCount: 4,
      events: ['Ann', 'Bob', 'Cy', 'Di'].map((name, i) => ({ id: `e${i}`, time: '', payload: { actor: { name } } })),
    },
  },
  subscriber: { timezone: 'America/New_York' },
}
const render = (template: string) => renderTemplate(template, situation(data, now))

describe('digest', () => {
  test.each([
    ['payload.names | digest', 'John, Josh and 2 others'],
    ['payload.names | digest: 3', 'John, Josh, Sarah and 1 other'],
    ['payload.names | digest: 1', 'John and 3 others'],
    ['payload.names | digest: 0', '4 others'],
    ['payload.names | digest: 9', 'John, Josh, Sarah and Al'],
    ['payload.names | digest: "x"', 'John, Josh and 2 others'],
    ['payload.two | digest', 'A and B'],
    ['payload.two | digest: 1', 'A and B'],
    ['payload.two | digest: 0', 'A and B'],
    ['payload.one | digest', 'A'],
    ['payload.none | digest', ''],
    ['payload.text | digest', ''],
    ['payload.nothing | digest', ''],
    ['payload.people | digest: 4, "name"', 'Ann, {"first":"Bob"}, 3, true and 2 others'],
    ['payload.people | digest: 2, "name.first", "; "', '; Bob and 4 others'],
    ['steps.d.events | digest: 2, "payload.actor.name"', 'Ann, Bob and 2 others'],
  ])('%s → %s', (expression, text) => {
    expect(render(`{{ ${expression} }}`)).toBe(text)
  })
})

describe('toSentence', () => {
  test.each([
    ['payload.names | toSentence', 'John, Josh, and 2 others'],
    ['payload.names | toSentence: "", 9', 'John, Josh, Sarah, and Al'],
    ['payload.names | toSentence: "", 1', 'John and 3 others'],
    ['payload.names | toSentence: "", 1, "person"', 'John and 3 people'],
    ['payload.names | toSentence: "", 3, "friend"', 'John, Josh, Sarah, and 1 friend'],
    ['payload.names | toSentence: "", 0', '4 others'],
    ['payload.names | toSentence: "", 9, "other", "; ", " & ", " plus "', 'John; Josh; Sarah plus Al'],
    ['payload.names | toSentence: "", 1, "other", "; ", " & ", " plus "', 'John & 3 others'],
    ['payload.names | toSentence: "", 2, ""', 'John, Josh, and 2'],
    ['payload.two | toSentence', 'A and B'],
    ['payload.two | toSentence: "", 1', 'A and B'],
    ['payload.one | toSentence', 'A'],
    ['payload.none | toSentence', ''],
    ['payload.text | toSentence', ''],
    ['steps.d.events | toSentence: "payload.actor.name", 3, "other"', 'Ann, Bob, Cy, and 1 other'],
    ['payload.people | toSentence: "name", 9', 'Ann, {"first":"Bob"}, 3, true, , and '],
  ])('%s → %s', (expression, text) => {
    expect(render(`{{ ${expression} }}`)).toBe(text)
  })
})

describe('pluralize', () => {
  test.each([
    ['2 | pluralize: "event"', '2 events'],
    ['1 | pluralize: "event"', '1 event'],
    ['0 | pluralize: "event"', ''],
    ['-2 | pluralize: "event"', ''],
    ['"2" | pluralize: "event"', '2 events'],
    ['"x" | pluralize: "event"', ''],
    ['"" | pluralize: "event"', ''],
    ['1.5 | pluralize: "event"', '1.5 events'],
    ['payload.names | pluralize: "event"', '4 events'],
    ['payload.settings | pluralize: "setting"', '2 settings'],
    ['payload.none | pluralize: "event"', ''],
    ['payload.nothing | pluralize: "event"', ''],
    ['2 | pluralize: "person", "people"', '2 people'],
    ['2 | pluralize: "person"', '2 people'],
    ['1 | pluralize: "person", "people"', '1 person'],
    ['2 | pluralize: "event", "", "false"', 'events'],
    ['2 | pluralize: "child", "", false', 'children'],
    ['2 | pluralize: "event", "", "true"', '2 events'],
    ['2 | pluralize', '2'],
    ['steps.d.eventCount | pluralize: "notification"', '4 notifications'],
  ])('%s → %s', (expression, text) => {
    expect(render(`{{ ${expression} }}`)).toBe(text)
  })
})

describe('json', () => {
  test.each([
    ['payload.settings | json', `{'a':1,'b':'say \\'hi\\''}`],
    ['payload.two | json', "['A','B']"],
    ['payload.two | json: 2', "[\n  'A',\n  'B'\n]"],
    ['payload.text | json', 'x'],
    ['5 | json', '5'],
    ['payload.nothing | json', ''],
  ])('%s → %s', (expression, text) => {
    expect(render(`{{ ${expression} }}`)).toBe(text)
  })
})

describe('date', () => {
  test.each([
    ['payload.at | date: "%Y-%m-%d %H:%M", "America/New_York"', '2026-01-01 22:04'],
    ['payload.at | date: "%Y-%m-%d %H:%M", subscriber.timezone', '2026-01-01 22:04'],
    ['payload.at | date: "%Y-%m-%d %H:%M"', '2026-01-02 03:04'],
    ['payload.at | date: "%H:%M", payload.nothing', '03:04'],
    ['payload.at | date: "%H:%M %z", 300', '22:04 -0500'],
    ['payload.at | date: "%H:%M %:z", "+05:30"', '08:34 +05:30'],
    ['payload.at | date: "%H:%M %Z", "Europe/Berlin"', '04:04 Europe/Berlin'],
    ['"2026-07-02T03:04:05Z" | date: "%H:%M", "Europe/Berlin"', '05:04'],
    ['"2026-01-02 03:04" | date: "%H:%M"', '03:04'],
    ['"2026-01-02" | date: "%a %e %b"', 'Fri  2 Jan'],
    ['"Jan 2, 2026 10:00" | date: "%H:%M"', '10:00'],
    ['"2026-01-02T03:04:05+02:00" | date: "%H:%M"', '01:04'],
    ['1700000000 | date: "%Y-%m-%dT%H:%M:%S"', '2023-11-14T22:13:20'],
    ['"1700000000" | date: "%s"', '1700000000'],
    ['"now" | date: "%Y-%m-%d %H:%M:%S"', '2026-05-06 07:08:09'],
    ['"today" | date: "%A, %-d %B %Y, week %W, day %j"', 'Wednesday, 6 May 2026, week 18, day 126'],
    [
      'payload.at | date: "%-d%q %^b %y %l %P %I %p %L %N %3N %u %w %U %C %% %t%n|"',
      `2nd JAN 26  3 am 03 AM 000 000000000 000 5 5 00 20 % \t\n|`,
    ],
    ['payload.at | date: "%_m %010Y %#A %Q"', ' 1 0000002026 FRIDAY %Q'],
    ['payload.at | date: "%x %X"', '1/2/2026 3:04:05 AM'],
    ['payload.at | date: "%9999Y" | size', '64'],
    ['payload.at | date', 'Friday, January 2, 2026 at 3:04 am +0000'],
    ['"no date" | date: "%Y"', 'no date'],
    ['payload.nothing | date: "%Y"', ''],
    ['payload.at | date_to_xmlschema', '2026-01-02T03:04:05+00:00'],
    ['payload.at | date_to_rfc822', 'Fri, 02 Jan 2026 03:04:05 +0000'],
    ['payload.at | date_to_string', '02 Jan 2026'],
    ['payload.at | date_to_string: "ordinal", "US"', 'Jan 2nd, 2026'],
    ['payload.at | date_to_long_string: "ordinal"', '2nd January 2026'],
  ])('%s → %s', (expression, text) => {
    expect(render(`{{ ${expression} }}`)).toBe(text)
  })
})

test('a list can be shuffled', () => {
  expect(render('{{ payload.names | sample: 9 | sort | join: " " }}')).toBe('Al John Josh Sarah')
  expect(render('{{ payload.one | sample }}{{ payload.nothing | sample | size }}')).toBe('A0')
})

test('expressions filter a list', () => {
  expect(
    render(
      '{{ steps.d.events | find_exp: "e", "e.payload.actor.name == \'Cy\'" | map: "id" }}{{ payload.names | reject_exp: "n", "n contains \'o\'" | join }}{{ payload.names | has_exp: "n", "n == \'Al\'" }}{{ payload.names | find_index_exp: "n", "n.size == 5" }}{{ payload.names | group_by_exp: "n", "n.size" | map: "name" | join }}',
    ),
  ).toBe("['e2']Sarah Altrue24 5 2")
})

test('surrogate pairs are never cut in half', () => {
  expect(render('{{ "a😀b" | slice: 1, 2 }}{{ "😀😀" | slice: -1 }}')).toBe('😀b😀')
})
