// Whose page it is, and in which language its reader reads.
import { Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import type { Link } from '../../db/core/link-tokens.ts'
import { consentOf } from '../../db/queries/consent.ts'
import { Nullable } from '../edge/schema.ts'
import type { PageBrand } from './page.ts'

/** For those who make a page of their own. */
export const Brand = Type.Object({
  name: Nullable(Type.String()),
  logoUrl: Nullable(Type.String()),
  primaryColor: Nullable(Type.String()),
  postalAddress: Nullable(Type.String()),
})

/** The subscriber may be gone. */
export async function findBrand(db: Db, link: Link): Promise<{ brand: PageBrand; locale: string | null }> {
  const environment = await db
    .selectFrom('environments')
    .select('consent')
    .where('id', '=', link.environmentId)
    .executeTakeFirst()
  const subscriber = await db
    .selectFrom('subscribers')
    .select('locale')
    .where('environment_id', '=', link.environmentId)
    .where('id', '=', link.subscriberRowId)
    .executeTakeFirst()
  return { brand: consentOf(environment?.consent).brand, locale: subscriber?.locale ?? null }
}
