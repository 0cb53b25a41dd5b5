// Whose page it is, and in which language its reader reads.
import type { Db } from '../../db/core/database.ts'
import type { Link } from '../../db/core/link-tokens.ts'
import { consentOf } from '../../db/queries/consent.ts'
import type { PageBrand } from './page.ts'

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
