import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { deliveryProvider, deliveryProviders, extraProviders } from './index.ts'

const all = [...deliveryProviders, ...extraProviders]
const folder = import.meta.dirname
/** Files that declare a provider, not shared code. */
const declaring = (channel: string) =>
  readdirSync(path.join(folder, channel))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => /= \w+Provider\(\{/.test(readFileSync(path.join(folder, channel, file), 'utf8')))
    .map((file) => file.replace(/\.ts$/, ''))

describe('the list of providers', () => {
  test.each(['email', 'sms', 'push', 'chat'])('has every file of the folder %s, named after its id', (channel) => {
    const listed = deliveryProviders.filter((provider) => provider.channel === channel).map(({ id }) => id)
    const extra = extraProviders.filter((provider) => provider.channel === channel).map(({ id }) => id)
    expect([...listed, ...extra].sort()).toEqual(declaring(channel).sort())
    expect(listed).toEqual([...listed].sort())
  })

  test('has only providers that run the shared suite', () => {
    const suite = (file: string, channel: string) =>
      existsSync(path.join(folder, channel, file)) ? readFileSync(path.join(folder, channel, file), 'utf8') : ''
    // SMTP providers have their own tests.
    const bySmtp = all.filter(({ id }) => suite('smtp.test.ts', 'email').includes(`'./${id}.ts'`)).map(({ id }) => id)
    expect(bySmtp).toEqual(['emailjs', 'nodemailer', 'outlook365'])
    const untested = all
      .filter(({ id }) => !id.startsWith('svc-') && !bySmtp.includes(id))
      .filter(({ id, channel }) => !suite(`${id}.test.ts`, channel).includes('testProvider('))
    expect(untested.map(({ id }) => id)).toEqual([])
  })

  test('has no duplicates', () => {
    const ids = all.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const provider of all) expect(deliveryProvider(provider.id)).toBe(provider)
  })

  test('has only complete declarations', () => {
    for (const { id, name, docs, credentials } of all) {
      expect([id, name]).toEqual([expect.stringMatching(/^[a-z0-9]+(-[a-z0-9]+)*$/), expect.stringMatching(/\S/)])
      if (!id.startsWith('svc'))
        expect([id, docs]).toEqual([id, expect.stringMatching(/^(https:\/\/(?!docs\.novu)|\/docs#)/)])
      for (const [field, { label }] of Object.entries(credentials))
        expect([id, field, label]).toEqual([id, field, expect.stringMatching(/\S/)])
    }
  })
})
