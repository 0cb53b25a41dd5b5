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
    for (const id of reportingIds) expect(findProvider(id)?.kind).toBe('delivery')
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

  test('credentials come as the provider declares them, fit to draw a form from', () => {
    expect(findProvider('postmark')).toEqual({
      id: 'postmark',
      name: 'Postmark',
      channel: 'email',
      kind: 'delivery',
      docs: 'https://postmarkapp.com/developer/api/email-api',
      credentials: [
        { name: 'apiKey', label: 'Server API token', type: 'text', required: true, secret: true },
        { name: 'from', label: 'From address', type: 'text', required: true, secret: false },
        { name: 'senderName', label: 'Sender name', type: 'text', required: true, secret: false },
      ],
    })
  })

  test('what is secret for one provider is stored encrypted for all', () => {
    expect([...secretCredentials]).toEqual(
      expect.arrayContaining(['apiKey', 'secretKey', 'token', 'password', 'accessKey', 'webhookUrl', 'tlsOptions']),
    )
    expect([...secretCredentials].filter((name) => /^(from|host|port|user|region|senderName)$/.test(name))).toEqual([])
  })
})
