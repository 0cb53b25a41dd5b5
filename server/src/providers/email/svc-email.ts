import { emailProvider } from '../provider.ts'

/** The service's own: into the sandbox, for those who have no account anywhere yet. */
export const svcEmail = emailProvider({
  id: 'svc-email',
  name: 'Belfry Email',
  docs: '',
  credentials: {},
  idempotent: true,

  async send(message, _, { sandbox }) {
    const { id } = await sandbox.take(message)
    return { providerMessageId: id }
  },
})
