// Invitation and reset links: created here and shown once, for copying.
import { CircleAlert, MailCheck, MailX } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { type Role, roles, useCanInOrganization } from '../../api/auth.ts'
import { type EnvironmentRole, type MadeInvitation, refreshTeam, team } from '../../api/team.ts'
import { Button } from '../../ui/base/button.tsx'
import { absoluteTime } from '../../ui/base/time.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { Field, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'
import { EnvironmentRoleChoices, isUnlimited } from './environment-roles.tsx'
import { roleHints } from './roles.ts'

interface LinkDialogProps {
  title: string
  link: string
  expiresAt: string
  onClose: () => void
  children?: ReactNode
}

export function LinkDialog({ title, link, expiresAt, onClose, children }: LinkDialogProps) {
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={title}
      description={children}
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <LinkBlock link={link} expiresAt={expiresAt} />
    </Dialog>
  )
}

const LinkBlock = ({ link, expiresAt }: { link: string; expiresAt: string }) => (
  <>
    <CodeBlock code={link} title="Shown only once" className="[&_pre]:break-all [&_pre]:whitespace-pre-wrap" />
    <p className="mt-2 text-xs text-muted">It works once. Expires {absoluteTime(expiresAt)}.</p>
  </>
)

export function InviteDialog({ onClose, onInvited }: { onClose: () => void; onInvited: () => void }) {
  const isOwner = useCanInOrganization('owner')
  const [made, setMade] = useState<MadeInvitation>()
  const form = useForm({
    initial: { email: '', role: 'editor' as Role, environmentRoles: [] as EnvironmentRole[] },
    submit: ({ email, role, environmentRoles }) =>
      team.invite({ email: email.trim(), role, environmentRoles: isUnlimited(role) ? [] : environmentRoles }),
    onDone: (invitation) => {
      setMade(invitation)
      onInvited()
      void refreshTeam()
    },
  })
  if (made)
    return (
      <Dialog
        open
        onClose={onClose}
        size="md"
        title={`${made.email} is invited`}
        footer={
          <>
            <Button
              onClick={() => {
                setMade(undefined)
                form.reset({ email: '', role: made.role, environmentRoles: made.environmentRoles })
              }}
            >
              Invite another
            </Button>
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </>
        }
      >
        <div className="space-y-4">
          <Mail mail={made.mail} />
          <LinkBlock link={made.link} expiresAt={made.expiresAt} />
        </div>
      </Dialog>
    )
  const offered = roles.filter((role) => role !== 'owner' || isOwner)
  return (
    <Dialog
      open
      onClose={onClose}
      title="Invite a member"
      description="Belfry emails them a link if an email integration is set up. You can copy the link too."
    >
      <Form form={form}>
        <Field form={form} name="email" label="Email">
          {(control) => (
            <Input
              {...control}
              type="email"
              autoFocus
              placeholder="ada@example.com"
              autoComplete="off"
              spellCheck={false}
            />
          )}
        </Field>
        <Field form={form} name="role" label="Role" hint={roleHints[form.values.role]}>
          {(control) => (
            <Select
              {...control}
              options={offered.map((role) => ({ value: role, label: role.charAt(0).toUpperCase() + role.slice(1) }))}
            />
          )}
        </Field>
        {!isUnlimited(form.values.role) && (
          <details className="text-sm">
            <summary className="cursor-pointer py-1 font-medium">Roles in single environments</summary>
            <div className="pt-2">
              <EnvironmentRoleChoices
                role={form.values.role}
                value={form.values.environmentRoles}
                onValue={(environmentRoles) => form.set({ environmentRoles })}
              />
            </div>
          </details>
        )}
        <FormFooter form={form} onClose={onClose} disabled={form.values.email.trim() === ''}>
          Create link
        </FormFooter>
      </Form>
    </Dialog>
  )
}

function Mail({ mail }: { mail: MadeInvitation['mail'] }) {
  const [icon, text] =
    mail.status === 'sent'
      ? [<MailCheck key="icon" className="text-good" />, `Sent by email through ${mail.integration}.`]
      : mail.status === 'failed'
        ? [
            <CircleAlert key="icon" className="text-bad" />,
            `The email was not sent: ${mail.reason} Copy the link and pass it on.`,
          ]
        : [
            <MailX key="icon" className="text-muted" />,
            'No email integration is set up, so no email was sent. Copy the link and pass it on.',
          ]
  return (
    <p className="flex gap-2 text-sm [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0">
      {icon}
      {text}
    </p>
  )
}
