// Publishing one workflow into another environment: the menu items lead to the page that compares the two.
import { isAtLeast, useSession } from '../../../api/auth.ts'
import { useEnvironment } from '../../../shell/environment.ts'
import { EnvironmentDot } from '../../../ui/base/avatar.tsx'
import { MenuLabel, MenuLink, MenuSeparator } from '../../../ui/frame/menu.tsx'

/** Menu items: one for each other environment. */
export function SyncItems({ workflow }: { workflow: { workflowId: string } }) {
  const { environments } = useSession()
  const here = useEnvironment()
  const others = environments.filter(
    ({ _id, role, isProtected }) =>
      _id !== here._id && (isProtected || (isAtLeast(role, 'admin') && isAtLeast(here.role, 'admin'))),
  )
  if (others.length === 0) return null
  return (
    <>
      <MenuSeparator />
      <MenuLabel>Publish to…</MenuLabel>
      {others.map(({ _id, name, color }) => (
        <MenuLink
          key={_id}
          icon={<EnvironmentDot color={color} />}
          to="/environments"
          search={{ publish: _id, from: here._id, only: workflow.workflowId }}
        >
          {name}
        </MenuLink>
      ))}
    </>
  )
}
