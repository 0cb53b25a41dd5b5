import { ChatOrPushProviderEnum } from '@novu/api/models/components/chatorpushproviderenum.js'
import { ProvidersIdEnum } from '@novu/api/models/components/providersidenum.js'
import { describe, expect, test } from 'vitest'
import {
  chatAndPushIds,
  credentialNames,
  findProvider,
  providerIds,
  providers,
  reportingIds,
  secretCredentials,
} from './catalog.ts'

describe('the catalogue', () => {
  test('under the brand of the public client it has exactly the ids that client knows', () => {
    const wire = (ids: readonly string[]) => ids.map((id) => id.replace(/^svc\b/, 'novu')).sort()
    expect(wire(providerIds)).toEqual(Object.values(ProvidersIdEnum).sort())
    expect(wire(chatAndPushIds)).toEqual(Object.values(ChatOrPushProviderEnum).sort())
  })

  test('no id stands in it twice, and each is found by its id', () => {
    expect(new Set(providerIds).size).toBe(providers.length)
    for (const provider of providers) expect(findProvider(provider.id)).toBe(provider)
    expect(findProvider('carrier-pigeon')).toBeUndefined()
    for (const id of reportingIds) expect(findProvider(id)?.channel).toMatch(/email|sms/)
  })

  test('providers ask only for credentials that exist, each once', () => {
    const known = new Set<string>(Object.values(credentialNames).flat())
    for (const { id, credentials } of providers) {
      const names = credentials.map(({ name }) => name)
      expect([id, names.filter((name) => !known.has(name))]).toEqual([id, []])
      expect([id, new Set(names).size]).toEqual([id, names.length])
    }
    expect([...secretCredentials].filter((name) => !known.has(name))).toEqual([])
  })

  test('required credentials come marked, the shared ones of a channel first', () => {
    expect(findProvider('mailgun')).toEqual({
      id: 'mailgun',
      name: 'Mailgun',
      channel: 'email',
      kind: 'delivery',
      credentials: [
        { name: 'from', required: true },
        { name: 'senderName', required: true },
        { name: 'apiKey', required: true },
        { name: 'user', required: true },
        { name: 'domain', required: true },
        { name: 'baseUrl', required: false },
      ],
    })
  })
})
