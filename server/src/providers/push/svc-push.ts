import { pushProvider } from '../provider.ts'

/** The built-in demo provider: stores messages in the sandbox, for subscribers without a device token. */
export const svcPush = pushProvider({
  id: 'svc-push',
  name: 'Belfry Push',
  docs: '',
  credentials: {},
  idempotent: true,
  unlisted: true,

  async send(message, _, { sandbox }) {
    const { id } = await sandbox.take(message)
    return { providerMessageId: id }
  },
})
