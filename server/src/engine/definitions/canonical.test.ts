// The canonical form of files: files.md §2.
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { canonicalYaml } from './canonical.ts'

test('members are in the order of the API reference, those of values in that of the kind, all others by code point', () => {
  // U+FF21 comes before U+1D4B3 by code point, and behind it by UTF-16 units.
  const odd = { 𝒳: 1, Ａ: 2, b: 3, B: 4, é: 5, '1': 6, '9a': 7, '10': 8, '9': 9, '-1': 10 }
  const definition = {
    steps: [
      {
        controlValues: {
          '7': 0,
          '+': 0,
          zeta: 1,
          body: 'B',
          alpha: { y: 1, x: odd },
          editorType: 'html',
          subject: 'S',
        },
        filters: [],
        type: 'email',
        name: 'Mail',
        active: false,
        stepId: 'mail',
      },
    ],
    payloadSchema: { required: ['b'], properties: { zeta: { type: 'string' }, alpha: {} }, type: 'object' },
    newerMember: 1,
    active: true,
    name: 'A',
    validatePayload: true,
    tags: ['z', 'a'],
    workflowId: 'a',
  }
  expect(canonicalYaml('workflow', definition)).toBe(`workflowId: a
name: A
tags:
  - z
  - a
active: true
validatePayload: true
payloadSchema:
  required:
    - b
  properties:
    zeta:
      type: string
    alpha: {}
  type: object
steps:
  - stepId: mail
    name: Mail
    type: email
    controlValues:
      subject: S
      editorType: html
      body: B
      +: 0
      "7": 0
      alpha:
        x:
          "-1": 10
          "1": 6
          "10": 8
          "9": 9
          9a: 7
          B: 4
          b: 3
          é: 5
          Ａ: 2
          𝒳: 1
        "y": 1
      zeta: 1
    active: false
    filters: []
newerMember: 1
`)
})

test('texts of several lines are blocks, and quoted where a reader could take them for something else', () => {
  const long = 'word '.repeat(60).trim()
  const texts = {
    ...{ a: 'One\nTwo\n', b: 'One\nTwo', c: long, d: 'yes', e: '012', f: '{{x}}', g: 'a: b', h: '' },
    ...{ i: 'spaces \nat the end', j: '2026-01-01', k: 'null', l: 'tab\there', m: 'CR\r\n', n: '# none' },
  }
  const yaml = canonicalYaml('variable', { key: 'K', value: texts })
  expect(yaml).toBe(`key: K
value:
  a: |
    One
    Two
  b: |-
    One
    Two
  c: ${long}
  d: "yes"
  e: "012"
  f: "{{x}}"
  g: "a: b"
  h: ""
  i: "spaces\\ \\nat the end"
  j: "2026-01-01"
  k: "null"
  l: "tab\\there"
  m: "CR\\r\\n"
  "n": "# none"
`)
  expect(parse(yaml)).toEqual({ key: 'K', value: texts })
})
