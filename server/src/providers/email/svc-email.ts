import { emailProvider } from '../provider.ts'

/** The built-in demo provider: stores messages in the sandbox, for users without a vendor account. */
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
