import { chatProvider } from '../provider.ts'

/** The built-in demo provider: stores messages in the sandbox, also for subscribers without a chat. */
export const svcSlack = chatProvider({
  id: 'svc-slack',
  name: 'Belfry Slack',
  docs: '',
  credentials: {},
  idempotent: true,

  async send(message, _, { sandbox }) {
    const { id } = await sandbox.take(message)
    return { providerMessageId: id }
  },
})
