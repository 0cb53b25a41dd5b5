// Links that let somebody in once: the first owner, or a member who needs a new password. Only their hashes are kept.
import { randomBytes } from 'node:crypto'
import { StartError } from '../../errors.ts'
import type { Db, Tx } from '../core/database.ts'
import { hiddenId } from '../core/ids.ts'
import { sha256 } from '../core/secrets.ts'
import { recordAct } from './audit-log.ts'

/** Those who are to set the service up may be away for a while; a new password is chosen at once. */
const setUpHours = 7 * 24
const resetHours = 24

/** 256 random bits: nobody finds one by trying. */
export const newToken = () => randomBytes(32).toString('base64url')

/** A fragment stays in the browser: the token is in no log on the way. */
export const linkTo = (publicUrl: string, page: 'setup' | 'invitation' | 'reset', token: string) =>
  `${publicUrl}/${page}#${token}`

/** Replaces an earlier one for the same purpose. Without a user it makes the first owner. */
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

/** Whether somebody has become the owner. */
export async function isSetUp(db: Db | Tx): Promise<boolean> {
  const organization = await firstOrganization(db)
  return organization !== undefined && (await hasOwner(db, organization.id))
}

/** What whoever runs the service prints for themselves: how to become the owner, or how a member gets a new password. */
export async function signInLink(
  db: Db,
  { email, publicUrl, now }: { email: string | undefined; publicUrl: string; now: Date },
): Promise<string> {
  const organization = await firstOrganization(db)
  if (!organization) throw new StartError('There is no organization yet; start Belfry once.')
  if (!(await hasOwner(db, organization.id))) {
    const { token } = await makeSignInLink(db, { organizationId: organization.id, userId: null, now })
    return linkTo(publicUrl, 'setup', token)
  }
  if (email === undefined)
    throw new StartError(
      'Whose password is to be chosen anew? Say it behind --: npm run sign-in-link -- ada@example.com',
    )
  return db.transaction().execute(async (tx) => {
    const user = await tx
      .selectFrom('users')
      .select(['id', 'name', 'organization_id'])
      .where((where) => where(where.fn('lower', ['email']), '=', where.fn('lower', [where.val(email)])))
      .executeTakeFirst()
    if (!user) throw new StartError(`There is no member with the address ${email}.`)
    const { token } = await makeSignInLink(tx, { organizationId: user.organization_id, userId: user.id, now })
    const actor = { type: 'system', id: null, name: 'npm run sign-in-link', email: null } as const
    const act = { action: 'member.reset-link-made', target: { id: user.id, name: user.name } }
    await recordAct(tx, { organizationId: user.organization_id, actor, ...act }, now)
    return linkTo(publicUrl, 'reset', token)
  })
}

/** The organization this service was installed for: people who say nothing else are meant for it. */
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
