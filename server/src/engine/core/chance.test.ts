import { expect, test } from 'vitest'
import type { ChanceOf } from '../../steps/contract/call-tools.ts'
import { chanceFrom } from './chance.ts'

/** `<seed>/<transactionId>/<subscriberId>/<stepId>/<destination>/<call>`, and what `sha256sum` makes of it. */
test.each([
  ['0/sim-1/ada/mail/0/1', 0.20617564545630884],
  ['0/sim-1/ada/mail/0/2', 0.18341029221411986],
  ['7/c-1/bob/text/1/w1', 0.8594677752112361],
  ['2147483647/x/y/z/0/1', 0.6667321924191754],
])('%s is %d', (text, expected) => {
  const [seed, transactionId, subscriber_id, stepId = '', destination, call = ''] = text.split('/')
  const of = {
    ...{ run: { transactionId, subscriber: { subscriber_id } }, stepId, destination: Number(destination) },
    call: call.startsWith('w') ? call : Number(call),
  }
  expect(chanceFrom(Number(seed))(of as ChanceOf)).toBe(expected)
})
