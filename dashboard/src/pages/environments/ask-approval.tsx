// Publishing into a protected environment: a comment for those who approve, and who they are.
import { useQuery } from '@tanstack/react-query'
import { useSession } from '../../api/auth.ts'
import { type Member, team } from '../../api/team.ts'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Textarea } from '../../ui/form/input.tsx'

interface AskApprovalProps {
  targetId: string
  target: string
  comment: string
  onComment: (comment: string) => void
}

const mayApprove = ({ role, environmentRoles }: Member, targetId: string) =>
  role === 'owner' ||
  role === 'admin' ||
  environmentRoles.some((one) => one._environmentId === targetId && one.role === 'admin')

const mostNamed = 5

export function AskApproval({ targetId, target, comment, onComment }: AskApprovalProps) {
  const { user } = useSession()
  const members = useQuery(team.members())
  const able = members.data?.filter((member) => member._id !== user._id && mayApprove(member, targetId))
  const names = able?.slice(0, mostNamed).map(({ name, email }) => name || email)
  const more = (able?.length ?? 0) - (names?.length ?? 0)
  return (
    <section aria-label="Approval" className="mb-6 rounded-surface border bg-raised px-4 py-3">
      <p className="mb-3 text-sm text-pretty">
        {target} is protected. What you choose here is published once another person has approved it.{' '}
        <span className="text-muted">
          {able?.length === 0
            ? 'Nobody else can approve yet: invite another admin, or make somebody an admin there.'
            : names && `${names.join(', ')}${more > 0 ? ` and ${more} others` : ''} can approve.`}
        </span>
      </p>
      <FieldFrame label="Comment" optional>
        {(control) => (
          <Textarea
            {...control}
            value={comment}
            onValue={onComment}
            rows={2}
            maxLength={1000}
            placeholder="What changes, and why"
            dir="auto"
          />
        )}
      </FieldFrame>
    </section>
  )
}
