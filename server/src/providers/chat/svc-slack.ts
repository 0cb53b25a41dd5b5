import { chatProvider } from '../provider.ts'

/** The service's own: into the sandbox, also for subscribers who have no chat at all. */
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
