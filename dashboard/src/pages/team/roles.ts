import type { Role } from '../../api/auth.ts'

export const roleHints: Record<Role, string> = {
  viewer: 'Can view everything and change nothing.',
  editor: 'Can also change workflows, layouts, translations, subscribers and topics, trigger, and send again.',
  admin: 'Can also change integrations, environments, keys, variables, webhooks, settings and members, and publish.',
  owner: 'Can also add and remove owners.',
}
