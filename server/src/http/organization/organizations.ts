// Settings of the organization: the languages of its notifications, and whether emails carry our branding.
import { type Static, Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import type { Db, Tx } from '../../db/core/database.ts'
import { lockOrganization } from '../../db/queries/environments.ts'
import { Locale, supportedLocale } from '../edge/locales.ts'
import type { Resource } from '../edge/resource.ts'
import { Body } from '../edge/schema.ts'

/** More than anybody translates into, and short enough for lists. */
const mostTargets = 100

export const organizations: Resource = (app, { db, brand }) => {
  const tags = ['Organizations']
  const word = brand.word.charAt(0).toUpperCase() + brand.word.slice(1)
  const removeBranding = `remove${word}Branding`
  const Settings = Type.Object({
    [removeBranding]: Type.Boolean({ description: 'Leave our branding out of emails' }),
    defaultLocale: Type.String({ description: 'The fallback for texts missing in another locale' }),
    targetLocales: Type.Array(Type.String(), { description: 'The locales to translate into' }),
  })

  async function readSettings(from: Db | Tx, organizationId: string): Promise<Static<typeof Settings>> {
    const row = await from
      .selectFrom('organizations')
      .select(['default_locale', 'target_locales', 'remove_branding'])
      .where('id', '=', organizationId)
      .executeTakeFirstOrThrow()
    return {
      [removeBranding]: row.remove_branding,
      defaultLocale: row.default_locale,
      targetLocales: row.target_locales,
    }
  }

  app.get(
    '/v1/organizations/settings',
    { schema: { tags, summary: 'Retrieve the settings of the organization', response: { 200: Settings } } },
    async (request) => readSettings(db, request.environment.organizationId),
  )

  app.patch(
    '/v1/organizations/settings',
    {
      config: { role: 'admin', reach: 'organization', act: 'organization.changed' },
      schema: {
        tags,
        summary: 'Change the given settings of the organization',
        body: Body({
          [removeBranding]: Type.Optional(Type.Boolean()),
          defaultLocale: Type.Optional(Locale),
          targetLocales: Type.Optional(Type.Array(Locale, { maxItems: mostTargets })),
        }),
        response: { 200: Settings },
      },
    },
    async (request) => {
      const { organizationId } = request.environment
      const { [removeBranding]: isRemoved, defaultLocale, targetLocales } = request.body as Change
      const changes = {
        ...(typeof isRemoved === 'boolean' ? { remove_branding: isRemoved } : {}),
        ...(defaultLocale === undefined ? {} : { default_locale: kept(defaultLocale) }),
        ...(targetLocales === undefined ? {} : { target_locales: [...new Set(targetLocales.map(kept))] }),
      }
      return db.transaction().execute(async (tx) => {
        if (Object.keys(changes).length > 0) {
          await lockOrganization(tx, organizationId)
          await tx.updateTable('organizations').set(changes).where('id', '=', organizationId).execute()
          await announceToAll(tx, organizationId)
        }
        return readSettings(tx, organizationId)
      })
    },
  )
}

interface Change {
  defaultLocale?: string
  targetLocales?: string[]
  [removeBranding: string]: unknown
}

const kept = (locale: string) => supportedLocale(locale) ?? locale

/** The settings affect rendering in every environment. */
async function announceToAll(tx: Tx, organizationId: string): Promise<void> {
  const rows = await tx.selectFrom('environments').select('id').where('organization_id', '=', organizationId).execute()
  for (const { id } of rows) {
    await announce(tx, 'workflows', id)
    await announce(tx, 'layouts', id)
  }
}
