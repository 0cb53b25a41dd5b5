import { pushProvider } from '../provider.ts'

/** The service's own: into the sandbox. No app has tokens for it; it takes what is for subscribers without any device. */
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
