import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SubscriberChannel, SubscriberCredentials } from '../core/tables.ts'
import { mergeChannels } from './subscriber-channels.ts'

const entry = (credentials: SubscriberCredentials, integration = 'phones', providerId = 'fcm'): SubscriberChannel => ({
  providerId,
  _integrationId: integration,
  integrationIdentifier: integration,
  credentials,
})
const modes = ['append', 'replace'] as const

describe('merging channels', () => {
  test.each(modes)('a new entry is put at the end, its tokens without duplicates (%s)', (mode) => {
    const stored = [entry({ webhookUrl: 'https://chat' }, 'team', 'slack')]
    expect(mergeChannels(stored, [entry({ deviceTokens: ['b', 'a', 'b'] })], mode)).toEqual([
      ...stored,
      entry({ deviceTokens: ['b', 'a'] }),
    ])
  })

  test('an entry belongs to one integration of one provider', () => {
    const stored = [entry({ deviceTokens: ['a'] }), entry({ deviceTokens: ['b'] }, 'tablets')]
    expect(mergeChannels(stored, [entry({ deviceTokens: ['c'] }, 'tablets')], 'append')).toEqual([
      entry({ deviceTokens: ['a'] }),
      entry({ deviceTokens: ['b', 'c'] }, 'tablets'),
    ])
    expect(mergeChannels(stored, [entry({ deviceTokens: ['c'] }, 'phones', 'apns')], 'append')).toHaveLength(3)
  })

  test('append adds tokens after the stored ones, replace replaces them', () => {
    const stored = [entry({ deviceTokens: ['a', 'b'] })]
    const given = [entry({ deviceTokens: ['c', 'b', 'c'] })]
    expect(mergeChannels(stored, given, 'append')).toEqual([entry({ deviceTokens: ['a', 'b', 'c'] })])
    expect(mergeChannels(stored, given, 'replace')).toEqual([entry({ deviceTokens: ['c', 'b'] })])
  })

  test.each(modes)('an empty list clears the tokens, no list keeps them (%s)', (mode) => {
    const stored = [entry({ deviceTokens: ['a'], title: 'old', state: 'ok' })]
    expect(mergeChannels(stored, [entry({ deviceTokens: [] })], mode)).toEqual([
      entry({ deviceTokens: [], title: 'old', state: 'ok' }),
    ])
    expect(mergeChannels(stored, [entry({ title: 'new' })], mode)).toEqual([
      entry({ deviceTokens: ['a'], title: 'new', state: 'ok' }),
    ])
  })

  test('entries given together are applied in order', () => {
    const given = [entry({ deviceTokens: ['a'] }), entry({ deviceTokens: [] }), entry({ deviceTokens: ['b', 'c'] })]
    expect(mergeChannels([], given, 'append')).toEqual([entry({ deviceTokens: ['b', 'c'] })])
  })

  test("an integration's new identifier is noted", () => {
    const renamed = { ...entry({}), integrationIdentifier: 'handsets' }
    expect(mergeChannels([entry({ deviceTokens: ['a'] })], [renamed], 'append')).toEqual([
      { ...renamed, credentials: { deviceTokens: ['a'] } },
    ])
  })

  test('merging changes no input, loses or duplicates no token, and is idempotent', () => {
    const tokens = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 })
    const channel = fc
      .tuple(tokens, fc.constantFrom('phones', 'tablets'))
      .map(([deviceTokens, integration]) => entry({ deviceTokens }, integration))
    const tokensIn = (channels: SubscriberChannel[]) =>
      channels.flatMap(({ _integrationId, credentials }) =>
        (credentials.deviceTokens ?? []).map((token) => `${_integrationId} ${token}`),
      )
    fc.assert(
      fc.property(fc.array(channel), fc.array(channel), (before, given) => {
        const stored = mergeChannels([], before, 'append')
        const copies = structuredClone([stored, given])
        const merged = mergeChannels(stored, given, 'append')
        expect([stored, given]).toEqual(copies)
        expect(new Set(tokensIn(merged))).toEqual(new Set([...tokensIn(stored), ...tokensIn(given)]))
        expect(tokensIn(merged)).toHaveLength(new Set(tokensIn(merged)).size)
        expect(mergeChannels(merged, given, 'append')).toEqual(merged)
      }),
    )
  })
})
