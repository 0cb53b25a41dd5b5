// One-time sign-in links: for the first owner, or for a member who needs a new password. Only their hashes are stored.
import { randomBytes } from 'node:crypto'
import { StartError } from '../../errors.ts'
import type { Db, Tx } from '../core/database.ts'
import { hiddenId } from '../core/ids.ts'
import { sha256 } from '../core/secrets.ts'
import { recordAct } from './audit-log.ts'
import { removeFactors } from './second-factors.ts'

/** A setup link may wait a while; a password reset is used at once. */
const setUpHours = 7 * 24
const resetHours = 24

/** 256 random bits. */
export const newToken = () => randomBytes(32).toString('base64url')

/** In the fragment, which stays in the browser, so that no log contains the token. */
export const linkTo = (publicUrl: string, page: 'setup' | 'invitation' | 'reset', token: string) =>
  `${publicUrl}/${page}#${token}`

/** Replaces an earlier link for the same purpose. Without a user it is for the first owner. */
export async function makeSignInLink(
  tx: Db | Tx,
  { organizationId, userId, now }: { organizationId: string; userId: string | null; now: Date },
): Promise<{ token: string; expiresAt: Date }> {
  const token = newToken()
  const expiresAt = new Date(now.getTime() + (userId === null ? setUpHours : resetHours) * 3_600_000)
  const link = { hash: sha256(token), created_at: now, expires_at: expiresAt }
  await tx
    .insertInto('sign_in_links')
    .values({ ...link, organization_id: organizationId, user_id: userId })
    .onConflict((conflict) => conflict.constraint('sign_in_links_one').doUpdateSet(link))
    .execute()
  return { token, expiresAt }
}

export async function hasOwner(db: Db | Tx, organizationId: string): Promise<boolean> {
  const owner = await db
    .selectFrom('users')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('role', '=', 'owner')
    .limit(1)
    .executeTakeFirst()
  return owner !== undefined
}

/** Whether there is an owner. */
export async function isSetUp(db: Db | Tx): Promise<boolean> {
  const organization = await firstOrganization(db)
  return organization !== undefined && (await hasOwner(db, organization.id))
}

/** The link the operator prints: to become the owner, or for a member's new password. */
export async function signInLink(
  db: Db,
  given: {
    email: string | undefined
    publicUrl: string
    now: Date
    /** As the operator types it here: alone, and for a member. */
    command: string
    commandForMember: string
    /** For a member who lost their second factors and has nobody who could remove them. */
    removesFactors?: boolean
  },
): Promise<string> {
  const { email, publicUrl, now, command, commandForMember, removesFactors = false } = given
  const organization = await firstOrganization(db)
  if (!organization) throw new StartError('There is no organization yet; start Belfry once.')
  if (!(await hasOwner(db, organization.id))) {
    const { token } = await makeSignInLink(db, { organizationId: organization.id, userId: null, now })
    return linkTo(publicUrl, 'setup', token)
  }
  if (email === undefined)
    throw new StartError(`Add the address of the member who needs a new password: ${commandForMember}`)
  return db.transaction().execute(async (tx) => {
    const user = await tx
      .selectFrom('users')
      .select(['id', 'name', 'organization_id'])
      .where((where) => where(where.fn('lower', ['email']), '=', where.fn('lower', [where.val(email)])))
      .executeTakeFirst()
    if (!user) throw new StartError(`There is no member with the address ${email}.`)
    const { token } = await makeSignInLink(tx, { organizationId: user.organization_id, userId: user.id, now })
    const actor = { type: 'system', id: null, name: command, email: null } as const
    const act = { action: 'member.reset-link-made', target: { id: user.id, name: user.name } }
    await recordAct(tx, { organizationId: user.organization_id, actor, ...act }, now)
    if (removesFactors && (await removeFactors(tx, user.id))) {
      const reset = { ...act, action: 'member.second-factor-reset' }
      await recordAct(tx, { organizationId: user.organization_id, actor, ...reset }, now)
    }
    return linkTo(publicUrl, 'reset', token)
  })
}

/** The organization this service was installed for; the default for people who name none. */
export async function firstOrganization(db: Db | Tx): Promise<{ id: string; name: string } | undefined> {
  return db
    .selectFrom('organizations')
    .select(['id', 'name'])
    .where('id', '<>', hiddenId)
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}
