import { smsProvider } from '../provider.ts'

/** The built-in demo provider: stores messages in the sandbox, for users without a vendor account. */
export const svcSms = smsProvider({
  id: 'svc-sms',
  name: 'Belfry SMS',
  docs: '',
  credentials: {},
  idempotent: true,

  async send(message, _, { sandbox }) {
    const { id } = await sandbox.take(message)
    return { providerMessageId: id }
  },
})
