import { describe, expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'

const server = useServer()
const path = '/v1/organizations/settings'

describe('settings', () => {
  test('an organization starts with English, no other languages, and our branding', async () => {
    const { development } = await server.freshOrganizationWide()
    expect(await development.get(path)).toMatchObject({
      status: 200,
      body: { removeSvcBranding: false, defaultLocale: 'en_US', targetLocales: [] },
    })
  })

  test('given settings change in every environment of the organization, and in no other', async () => {
    const [{ development, production }, other] = [
      await server.freshOrganizationWide(),
      await server.freshOrganizationWide(),
    ]
    const changed = await development.patch(path, {
      removeSvcBranding: true,
      defaultLocale: 'de-AT',
      targetLocales: ['fr_FR', 'es-MX', 'fr-FR'],
    })
    const settings = { removeSvcBranding: true, defaultLocale: 'de_AT', targetLocales: ['fr_FR', 'es_MX'] }
    expect(changed).toMatchObject({ status: 200, body: settings })
    expect((await development.patch(path, {})).body).toEqual(settings)
    expect((await development.patch(path, { targetLocales: [] })).body).toEqual({ ...settings, targetLocales: [] })
    expect((await production.get(path)).body).toEqual({ ...settings, targetLocales: [] })
    expect((await other.development.get(path)).body.defaultLocale).toBe('en_US')
  })

  test.each([
    [{ defaultLocale: 'en' }, 'defaultLocale must be a language with its region, such as en_US'],
    [{ defaultLocale: 'xx_XX' }, 'defaultLocale must be a language with its region, such as en_US'],
    [{ defaultLocale: null }, 'defaultLocale must be a string'],
    [{ targetLocales: 'fr_FR' }, 'targetLocales must be an array'],
    [
      { targetLocales: ['fr_FR', 'fr'] },
      'each value in targetLocales must be a language with its region, such as en_US',
    ],
    [{ removeSvcBranding: 'yes' }, 'removeSvcBranding must be a boolean value'],
  ])('%j is refused', async (body, message) => {
    const { development } = await server.freshOrganizationWide()
    const answer = await development.patch(path, body)
    expect(answer).toMatchObject({ status: 422, body: { errors: { general: { messages: [message] } } } })
    expect((await development.get(path)).body.defaultLocale).toBe('en_US')
  })
})
