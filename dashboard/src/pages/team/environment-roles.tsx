// Roles in single environments: a choice for each, and the dialog for a member.
import { useState } from 'react'
import { type Role, useSession } from '../../api/auth.ts'
import { cache, useAction } from '../../api/cache.ts'
import { type EnvironmentRole, type Member, refreshTeam, team } from '../../api/team.ts'
import { EnvironmentDot } from '../../ui/base/avatar.tsx'
import { Button } from '../../ui/base/button.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'

type Choice = EnvironmentRole['role'] | 'same'

export const isUnlimited = (role: Role) => role === 'admin' || role === 'owner'

/** Such as `No access in Production`. */
export function useSummary(): (roles: readonly EnvironmentRole[]) => string {
  const { environments } = useSession()
  return (roles) =>
    roles
      .flatMap(({ _environmentId, role }) => {
        const name = environments.find(({ _id }) => _id === _environmentId)?.name
        return name === undefined ? [] : `${role === 'none' ? 'no access' : role} in ${name}`
      })
      .join(', ')
}

interface EnvironmentRoleChoicesProps {
  /** In the organization. */
  role: Role
  value: readonly EnvironmentRole[]
  onValue: (roles: EnvironmentRole[]) => void
}

export function EnvironmentRoleChoices({ role, value, onValue }: EnvironmentRoleChoicesProps) {
  const { environments } = useSession()
  const options: Array<{ value: Choice; label: string }> = [
    { value: 'same', label: `As in the organization: ${role}` },
    { value: 'none', label: 'No access' },
    { value: 'viewer', label: 'Viewer' },
    { value: 'editor', label: 'Editor' },
    { value: 'admin', label: 'Admin' },
  ]
  const set = (environmentId: string, choice: Choice) => {
    const others = value.filter(({ _environmentId }) => _environmentId !== environmentId)
    onValue(choice === 'same' ? others : [...others, { _environmentId: environmentId, role: choice }])
  }
  return (
    <ul className="space-y-2">
      {environments.map(({ _id, name, color }) => (
        <li key={_id} className="flex items-center gap-3">
          <span className="flex min-w-0 flex-1 items-center gap-2 text-sm">
            <EnvironmentDot color={color} />
            <span className="truncate" dir="auto">
              {name}
            </span>
          </span>
          <Select<Choice>
            aria-label={`Role in ${name}`}
            value={value.find(({ _environmentId }) => _environmentId === _id)?.role ?? 'same'}
            onValue={(choice) => set(_id, choice)}
            options={options}
            className="w-60 shrink-0 max-sm:w-44"
          />
        </li>
      ))}
    </ul>
  )
}

export function EnvironmentRolesDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const [roles, setRoles] = useState<EnvironmentRole[]>(member.environmentRoles)
  const who = member.name || member.email
  const save = useAction({
    do: () => team.setEnvironmentRoles(member._id, roles),
    done: `Roles of ${who} saved`,
    onDone: () => {
      void refreshTeam()
      if (member.isYou) void cache.invalidateQueries({ queryKey: ['session'] })
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={`Roles of ${who} in environments`}
      description="A role here replaces the one in the organization, in that environment only. It takes effect at once."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" pending={save.isPending} onClick={() => save.mutate()}>
            Save roles
          </Button>
        </>
      }
    >
      <EnvironmentRoleChoices role={member.role} value={roles} onValue={setRoles} />
    </Dialog>
  )
}
