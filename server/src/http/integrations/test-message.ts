// Test messages: sends one through an integration to a given address, and returns the provider's answer.
import { type Static, Type } from 'typebox'
import { newId } from '../../db/core/ids.ts'
import { findIntegration, type IntegrationRow } from '../../db/queries/integrations.ts'
import { refusedAt, sentAt, writeEvidence } from '../../engine/core/integration-health.ts'
import { sandboxOver } from '../../engine/core/step-ports.ts'
import { fail } from '../../errors.ts'
import { Delivery } from '../../providers/delivery.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { deliveryProvider } from '../../providers/index.ts'
import type { ChatTarget, Message } from '../../providers/provider.ts'
import { openIntegration, senderOf } from '../../steps/delivery/integration-choice.ts'
import { sandboxOf } from '../../steps/delivery/sandbox.ts'
import type { Resource, Services } from '../edge/resource.ts'
import { Body, Enum } from '../edge/schema.ts'

/** Short, because a person waits for the answer. */
const patienceMs = 15_000

const TestBody = Body(
  {
    to: Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'An email address, a phone number, a device token, or a chat webhook',
    }),
    subject: Type.Optional(Type.String({ minLength: 1, maxLength: 998, description: 'Of an email or push message' })),
    content: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000 })),
  },
  { examples: [{ to: 'ada@example.com' }] },
)
type TestBody = Static<typeof TestBody>

const Outcome = Type.Object({
  success: Type.Boolean(),
  providerMessageId: Type.Optional(Type.String({ description: 'The message id of the provider' })),
  error: Type.Optional(
    Type.Object({
      code: Type.String({ description: 'Such as `unauthorized` or `timeout`' }),
      kind: Enum(['later', 'failover', 'credentials', 'address', 'never'], {
        description:
          'What may help: retry later; another provider; other credentials; another address; or nothing, because the message is refused',
      }),
      message: Type.String(),
      status: Type.Optional(Type.Integer({ description: 'HTTP status of the answer' })),
    }),
  ),
  durationMs: Type.Integer(),
})

export const integrationTest: Resource = (app, services) => {
  const { db, clock, secrets, brand, http } = services

  app.post(
    '/v1/integrations/:integrationId/test',
    {
      config: { role: 'admin', act: 'integration.tested' },
      schema: {
        tags: ['Integrations'],
        summary: 'Send a test message through an integration',
        description:
          'Through this integration only, active or not, without retries. A refusal by the provider is a normal answer. The outcome counts as evidence of health. It leaves no activity record; a test of the sandbox appears there.',
        params: Type.Object({ integrationId: Type.String({ description: 'Its `_id`' }) }),
        body: TestBody,
        response: { 200: Outcome },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      const row = await findIntegration(db, environment.id, params.integrationId)
      if (!row) throw fail('integration_not_found', { id: params.integrationId })
      const provider = deliveryProvider(row.provider_id)
      if (!provider) throw fail('integration_not_testable', { providerId: brand.toWire(row.provider_id) })
      const { type } = await db
        .selectFrom('environments')
        .select('type')
        .where('id', '=', environment.id)
        .executeTakeFirstOrThrow()
      const id = newId(request.now())
      const origin = { transactionId: `test_${id}`, subscriberId: '', workflow: '', stepId: '' }
      const integration = {
        ...openIntegration(row, secrets),
        isDevelopment: type === 'dev',
        sandbox: sandboxOf(
          { environmentId: environment.id, ...origin },
          {
            sandbox: sandboxOver(db),
            clock: { now: () => request.now() },
          },
        ),
      }
      const delivery = new Delivery({ http, clock, brand: brand.word, timeoutMs: patienceMs })
      const key = { environmentId: environment.id, integrationId: row.id }
      const began = performance.now()
      const durationMs = () => Math.round(performance.now() - began)
      try {
        const message = messageFor(services, row, id, body)
        const { providerMessageId } = await delivery.send(provider, integration, message)
        await writeEvidence(db, key, sentAt(clock.now()))
        return { success: true, providerMessageId, durationMs: durationMs() }
      } catch (error) {
        if (!(error instanceof DeliveryError)) throw error
        const { code, kind, message, status } = error
        if (saysSomethingAboutIt(error)) await writeEvidence(db, key, refusedAt(clock.now(), error))
        return {
          success: false,
          error: { code, kind, message, ...(status === undefined ? {} : { status }) },
          durationMs: durationMs(),
        }
      } finally {
        await delivery.close()
      }
    },
  )
}

/** Not about this one message or its recipient. */
const saysSomethingAboutIt = ({ kind, code }: DeliveryError): boolean =>
  kind === 'credentials' || kind === 'failover' || (kind === 'later' && code !== 'rate_limited' && code !== 'cut_off')

function messageFor({ secrets }: Services, row: IntegrationRow, id: string, given: TestBody): Message {
  const { to, subject = `A test of ${row.name}`, content = `This message shows that ${row.name} delivers.` } = given
  const common = { id, attempt: 1, providerData: {}, customData: {} }
  const { credentials } = openIntegration(row, secrets)
  const said = (name: string) => (typeof credentials[name] === 'string' ? credentials[name] : '') || undefined
  const from = said('from')
  switch (row.channel) {
    case 'email': {
      const senderName = said('senderName')
      return {
        ...common,
        channel: 'email',
        to: [to],
        cc: [],
        bcc: [],
        from: senderOf(row, from),
        ...(senderName === undefined ? {} : { senderName }),
        subject: subject.replace(/[\r\n]+/g, ' '),
        html: `<p>${escaped(content)}</p>`,
        text: content,
        headers: {},
        attachments: [],
        details: { transactionId: `test_${id}`, workflowId: '', subscriberId: '' },
        payload: {},
      }
    }
    case 'sms':
      return { ...common, channel: 'sms', to, ...(from === undefined ? {} : { from }), content }
    case 'push':
      return {
        ...common,
        channel: 'push',
        target: to,
        title: subject,
        content,
        payload: {},
        overrides: {},
        subscriber: {},
        step: { digest: false, events: [], total_count: 0 },
      }
    default:
      return { ...common, channel: 'chat', target: chatTarget(row.provider_id, to), content }
  }
}

/** Most chats use webhooks; WhatsApp uses numbers, and the sandbox accepts anything. */
function chatTarget(providerId: string, to: string): ChatTarget {
  if (providerId === 'whatsapp-business') return { type: 'phone', phoneNumber: to }
  if (providerId === 'svc-slack' && !URL.canParse(to)) return { type: 'slack_user', userId: to, token: '' }
  return { type: 'webhook', url: to }
}

const escaped = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll('\n', '<br>')
