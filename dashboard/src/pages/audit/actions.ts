// The text for each action in the audit log. Unknown actions of a newer server are shown as they are.
import type { AuditEntry } from '../../api/team.ts'

const sentences: Record<string, string> = {
  'api-key.replaced': 'Replaced the API keys',
  'api-key.rotated': 'Rotated the API key',
  'bridge.synced': 'Synced code-first workflows',
  'environment.changed': 'Changed an environment',
  'environment.created': 'Created an environment',
  'environment.deleted': 'Deleted an environment',
  'environment.published': 'Published into an environment',
  'integration.auto-configured': 'Set up delivery reports',
  'integration.changed': 'Changed an integration',
  'integration.created': 'Added an integration',
  'integration.deleted': 'Deleted an integration',
  'integration.made-primary': 'Made an integration primary',
  'integration.tested': 'Tested an integration',
  'invitation.created': 'Sent an invitation',
  'invitation.withdrawn': 'Withdrew an invitation',
  'member.joined': 'Joined',
  'member.password-changed': 'Changed their password',
  'member.password-reset': 'Reset their password with a link',
  'member.removed': 'Removed a member',
  'member.reset-link-made': 'Created a password reset link',
  'member.role-changed': 'Changed a role',
  'member.signed-in': 'Signed in',
  'member.signed-out-everywhere': 'Signed out everywhere',
  'organization.changed': 'Changed the settings',
  'organization.renamed': 'Renamed the organization',
  'organization.set-up': 'Set up the organization',
  'variable.changed': 'Changed a variable',
  'variable.created': 'Created a variable',
  'variable.deleted': 'Deleted a variable',
  'webhook.changed': 'Changed a webhook',
  'webhook.created': 'Created a webhook',
  'webhook.deleted': 'Deleted a webhook',
  'webhook.replayed': 'Replayed events to a webhook',
  'webhook.resent': 'Sent an event again',
  'webhook.secret-rotated': 'Rotated the secret of a webhook',
  'webhook.tested': 'Tested a webhook',
  'workflow.published': 'Published a workflow',
}

export const sentenceOf = ({ action }: AuditEntry): string => sentences[action] ?? action

/** Each covers all actions that start with it. */
export const actions = [
  { value: 'integration', label: 'Integrations' },
  { value: 'environment', label: 'Environments' },
  { value: 'workflow', label: 'Workflows' },
  { value: 'api-key', label: 'API keys' },
  { value: 'variable', label: 'Variables' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'member', label: 'Members' },
  { value: 'invitation', label: 'Invitations' },
  { value: 'organization', label: 'Organization' },
  { value: 'bridge', label: 'Code-first sync' },
]
