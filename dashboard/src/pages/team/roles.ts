import type { Role } from '../../api/auth.ts'

export const roleHints: Record<Role, string> = {
  viewer: 'Looks at everything, changes nothing.',
  editor: 'Changes workflows, layouts, translations, subscribers and topics; triggers and redrives.',
  admin: 'Also integrations, environments, keys, variables, webhooks, settings and people; publishes.',
  owner: 'Also makes and removes owners.',
}
