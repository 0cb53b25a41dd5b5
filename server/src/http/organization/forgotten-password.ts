// "Forgot your password?": mails a link to choose a new one. Neither the answer nor its time tells whether there is such an
// account, so everything that depends on it happens after the answer.
import { recordAct } from '../../db/queries/audit-log.ts'
import { linkTo, makeSignInLink } from '../../db/queries/sign-in-links.ts'
import { refuseOtherSites } from '../edge/people.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Empty } from '../edge/schema.ts'
import { takeAttempt, takeResetMail } from '../edge/sign-in-limit.ts'
import { mailResetLink, mailsLinksOf } from './account-mail.ts'
import { Email } from './sign-in-fields.ts'

export const forgottenPassword: Resource = (app, services) => {
  const { db, clock, config, log } = services
  /** Mails on their way. Stopping waits for them. */
  const sending = new Set<Promise<void>>()
  app.addHook('onClose', async () => {
    await Promise.all(sending)
  })

  async function mailLink(email: string, address: string): Promise<void> {
    const now = clock.now()
    const user = await db
      .selectFrom('users')
      .select(['id', 'organization_id', 'name', 'email'])
      .where((where) => where(where.fn('lower', ['email']), '=', where.fn('lower', [where.val(email)])))
      // Who signs in with the identity provider alone chooses no password by mail: the provider decides who comes in.
      .where('password_hash', 'is not', null)
      .executeTakeFirst()
    if (!user || !(await mailsLinksOf(db, user.organization_id))) return
    const { token } = await db.transaction().execute(async (tx) => {
      // Whoever asked has not proved to be the member.
      const actor = { type: 'system', id: null, name: 'Forgot your password?', email: null } as const
      const act = { action: 'member.reset-link-asked', target: { id: user.id, name: user.name }, address }
      await recordAct(tx, { organizationId: user.organization_id, actor, ...act }, now)
      return makeSignInLink(tx, { organizationId: user.organization_id, userId: user.id, now })
    })
    const { status, integration, reason } = await mailResetLink(
      services,
      user,
      linkTo(config.publicUrl, 'reset', token),
    )
    if (status !== 'sent') log.warn({ integration, reason }, 'could not mail a link for a new password')
  }

  app.post(
    '/v1/auth/forgot-password',
    {
      config: { public: true },
      onRequest: async (request, reply) => {
        refuseOtherSites(request, config)
        reply.header('Cache-Control', 'no-store')
      },
      schema: {
        tags: ['Signing in'],
        summary: 'Mail a link for a new password, if there is such an account',
        description:
          'The answer is the same in any case. The link works once, within a day, and replaces an earlier one. It goes through ' +
          'an email integration of the organization, to at most three requests for an address in a quarter of an hour.',
        body: Body({ email: Email }, { examples: [{ email: 'ada@example.com' }] }),
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const email = request.body.email.trim()
      const now = clock.now()
      await takeAttempt(db, { address: request.ip }, now)
      if (await takeResetMail(db, email, now)) {
        const mailing = mailLink(email, request.ip)
          .catch((error: unknown) => log.error({ err: error }, 'could not make a link for a new password'))
          .finally(() => sending.delete(mailing))
        sending.add(mailing)
      }
      return reply.code(204).send(null)
    },
  )
}
