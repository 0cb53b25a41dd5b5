// The members of the organization, their roles, and the invitations.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { KeyRound, Layers2, Link2, ShieldOff, Trash2, UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import { type Role, roles, useCanInOrganization, useSession } from '../../api/auth.ts'
import { cache, useAction } from '../../api/cache.ts'
import { type Invitation, type MadeInvitation, type Member, refreshTeam, team } from '../../api/team.ts'
import { Avatar } from '../../ui/base/avatar.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { Badge, Status } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Switch } from '../../ui/form/switch.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/frame/menu.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { TabPanel, Tabs } from '../../ui/frame/tabs.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { type Column, RowActions, Table } from '../../ui/list/table.tsx'
import { flag, oneOf, useUrlState } from '../../ui/list/url-state.ts'
import { EnvironmentRolesDialog, isUnlimited, useSummary } from './environment-roles.tsx'
import { InviteDialog, LinkDialog } from './links.tsx'
import { roleHints } from './roles.ts'

const schema = { tab: oneOf(['members', 'invitations'], 'members'), invite: flag() }

export function Page() {
  const [url, setUrl] = useUrlState(schema)
  const canManage = useCanInOrganization('admin')
  const members = useQuery(team.members())
  const invitations = useQuery({ ...team.invitations(), enabled: canManage })
  const invite = () => setUrl({ invite: true }, { push: true })
  const tab = canManage ? url.tab : 'members'
  return (
    <Frame
      title="Team"
      flush
      actions={
        <NewButton
          icon={<UserPlus />}
          disabled={!canManage}
          hint={canManage ? 'Invite a member' : 'Only admins and owners can invite'}
          onNew={invite}
        >
          Invite
        </NewButton>
      }
    >
      <Tabs
        label="Team"
        value={tab}
        onValue={(next) => setUrl({ tab: next })}
        className="[&>div:first-child]:px-4 sm:[&>div:first-child]:px-6"
        tabs={[
          { value: 'members', label: 'Members', count: members.data?.length },
          ...(canManage
            ? [{ value: 'invitations' as const, label: 'Invitations', count: invitations.data?.length }]
            : []),
        ]}
      >
        <TabPanel value="members" className="pt-0">
          <Members members={members.data} query={members} />
        </TabPanel>
        {canManage && (
          <TabPanel value="invitations" className="pt-0">
            <Invitations invitations={invitations.data} query={invitations} onInvite={invite} />
          </TabPanel>
        )}
      </Tabs>
      {canManage && url.invite && (
        <InviteDialog
          onClose={() => setUrl({ invite: false })}
          onInvited={() => setUrl({ tab: 'invitations', invite: true })}
        />
      )}
    </Frame>
  )
}

interface MembersProps {
  members: readonly Member[] | undefined
  query: Parameters<typeof Table<Member>>[0]['query'] & object
}

function Members({ members, query }: MembersProps) {
  const [link, setLink] = useState<{ member: Member; link: string; expiresAt: string }>()
  const [limited, setLimited] = useState<Member>()
  const columns: Array<Column<Member>> = [
    {
      id: 'name',
      header: 'Name',
      cell: ({ name, email, isYou }) => (
        <span className="flex items-center gap-2.5">
          <Avatar name={name || email} />
          <span className="min-w-0">
            <span className="flex items-center gap-2">
              <span className="truncate font-medium" dir="auto">
                {name || email}
              </span>
              {isYou && <Badge>You</Badge>}
            </span>
            <span className="block truncate text-xs text-muted sm:hidden">{email}</span>
          </span>
        </span>
      ),
    },
    {
      id: 'email',
      header: 'Email',
      from: 'md',
      cell: ({ email }) => <span className="text-muted">{email}</span>,
    },
    {
      id: 'entry',
      header: 'Signs in with',
      width: 'w-44',
      from: 'xl',
      cell: ({ hasPassword, hasOidc }) => (
        <span className="text-muted">
          {[hasPassword && 'password', hasOidc && 'identity provider'].filter(Boolean).join(', ') || 'nothing yet'}
        </span>
      ),
    },
    {
      id: 'factor',
      header: 'Second factor',
      width: 'w-32',
      from: 'lg',
      cell: ({ hasSecondFactor }) =>
        hasSecondFactor ? <Status tone="good">On</Status> : <Status tone="neutral">Off</Status>,
    },
    {
      id: 'seen',
      header: 'Last seen',
      width: 'w-28',
      from: 'xl',
      cell: ({ lastSeenAt }) =>
        lastSeenAt ? <Time at={lastSeenAt} className="text-muted" /> : <span className="text-muted">Never</span>,
    },
    { id: 'role', header: 'Role', width: 'w-32 sm:w-52', cell: (member) => <RoleCell member={member} /> },
    {
      id: 'actions',
      header: <span className="sr-only">Actions</span>,
      width: 'w-14',
      cell: (member) => <MemberMenu member={member} onLink={setLink} onRoles={setLimited} />,
    },
  ]
  return (
    <>
      <Table
        label="Members"
        columns={columns}
        rows={members}
        rowKey={({ _id }) => _id}
        query={query}
        empty={<EmptyState icon={<Users />} title="No members" />}
        footer={
          <>
            <SecondFactorRule />
            <RolesNote />
          </>
        }
      />
      {limited && <EnvironmentRolesDialog member={limited} onClose={() => setLimited(undefined)} />}
      {link && (
        <LinkDialog
          title="Password reset link"
          link={link.link}
          expiresAt={link.expiresAt}
          onClose={() => setLink(undefined)}
        >
          Send it to {link.member.name || link.member.email} privately. It works once, and a new password ends all their
          sessions.
        </LinkDialog>
      )}
    </>
  )
}

/** Whether every member needs a second factor. */
function SecondFactorRule() {
  const canManage = useCanInOrganization('admin')
  const { organization, secondFactor } = useSession()
  const { requiresSecondFactor: isRequired } = organization
  const hasOwn = secondFactor.hasApp || secondFactor.passkeys > 0
  const change = useAction({
    do: team.requireSecondFactor,
    done: (_, isOn) => (isOn ? 'Every member needs a second factor now' : 'A second factor is optional now'),
    onDone: () => void cache.invalidateQueries({ queryKey: ['session'] }),
  })
  return (
    <div className="flex max-w-2xl items-start gap-3 px-4 pt-5 sm:px-6">
      <Switch
        id="second-factor-rule"
        value={change.isPending ? change.variables : isRequired}
        onValue={(isOn) => change.mutate(isOn)}
        disabled={!canManage || change.isPending || (!hasOwn && !isRequired)}
        aria-describedby="second-factor-rule-note"
      />
      <div className="min-w-0 text-sm">
        <label htmlFor="second-factor-rule" className="font-medium">
          Every member needs a second factor
        </label>
        <p id="second-factor-rule-note" className="mt-0.5 text-xs text-pretty text-muted">
          Who has none sets one up before anything else. People who sign in with the identity provider are not asked
          here.
          {secondFactor.isRequired && !isRequired && ' The operator of this service requires it already.'}
          {canManage && !hasOwn && !isRequired && (
            <>
              {' '}
              To turn it on,{' '}
              <Link to="/account" className="font-medium text-ink underline underline-offset-2">
                set up your own
              </Link>{' '}
              first.
            </>
          )}
        </p>
      </div>
    </div>
  )
}

function RolesNote() {
  const canManage = useCanInOrganization('admin')
  const { user } = useSession()
  return (
    <div className="max-w-2xl px-4 py-5 text-xs text-muted sm:px-6">
      {!canManage && (
        <p className="mb-3">
          You are {user.role === 'viewer' ? 'a viewer' : 'an editor'}. Only admins and owners can change roles.
        </p>
      )}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        {roles.map((role) => (
          <div key={role} className="contents">
            <dt className="font-medium text-ink capitalize">{role}</dt>
            <dd>{roleHints[role]}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

/** Only an owner may change an owner. */
function useMayManage(role: Role): boolean {
  const isAdmin = useCanInOrganization('admin')
  const isOwner = useCanInOrganization('owner')
  return role === 'owner' ? isOwner : isAdmin
}

function RoleCell({ member }: { member: Member }) {
  const isOwner = useCanInOrganization('owner')
  const mayManage = useMayManage(member.role)
  const change = useAction({
    do: (role: Role) => team.setRole(member._id, role),
    done: (_, role) => `${member.name || member.email} is ${article(role)} now`,
    undo: async () => {
      await team.setRole(member._id, member.role)
      // Becoming an admin ended the roles in environments.
      if (member.environmentRoles.length > 0) await team.setEnvironmentRoles(member._id, [...member.environmentRoles])
      await refreshTeam()
    },
    onDone: () => {
      void refreshTeam()
      if (member.isYou) void cache.invalidateQueries({ queryKey: ['session'] })
    },
  })
  const summaryOf = useSummary()
  const summary = summaryOf(member.environmentRoles)
  const note = summary !== '' && (
    <span className="mt-0.5 block text-xs whitespace-normal text-muted first-letter:uppercase">{summary}</span>
  )
  if (!mayManage)
    return (
      <>
        <span className="capitalize">{member.role}</span>
        {note}
      </>
    )
  const offered = roles.filter((role) => role !== 'owner' || isOwner)
  return (
    <>
      <Select
        aria-label={`Role of ${member.name || member.email}`}
        value={change.isPending ? change.variables : member.role}
        onValue={(role) => change.mutate(role)}
        options={offered.map((role) => ({ value: role, label: role.charAt(0).toUpperCase() + role.slice(1) }))}
        disabled={change.isPending}
        className="relative z-1 h-7 pointer-coarse:h-9"
      />
      {note}
    </>
  )
}

const article = (role: Role) => `${role === 'viewer' ? 'a' : 'an'} ${role}`

interface MemberMenuProps {
  member: Member
  onLink: (link: { member: Member; link: string; expiresAt: string }) => void
  onRoles: (member: Member) => void
}

function MemberMenu({ member, onLink, onRoles }: MemberMenuProps) {
  const ask = useConfirm()
  const mayManage = useMayManage(member.role)
  const who = member.name || member.email
  const reset = useAction({
    do: () => team.resetLink(member._id),
    onDone: (made) => onLink({ member, ...made }),
  })
  const remove = useAction({
    do: () => team.remove(member._id),
    done: `${who} removed`,
    onDone: () => void refreshTeam(),
  })
  const isOwner = useCanInOrganization('owner')
  const removeFactors = useAction({
    do: () => team.removeFactors(member._id),
    done: `${who} has no second factor now`,
    onDone: () => void refreshTeam(),
  })
  const askRemoveFactors = async () => {
    const yes = await ask({
      title: `Remove the second factor of ${who}?`,
      body: `Their authenticator app, passkeys and recovery codes stop working, and they are signed out everywhere. Their password alone signs them in. Make sure that it is ${who} who asks you.`,
      confirm: 'Remove the second factor',
    })
    if (yes) removeFactors.mutate()
  }
  const askRemove = async () => {
    const yes = await ask({
      title: `Remove ${who}?`,
      body: `${member.email} is signed out everywhere at once and needs a new invitation to return. What they created stays.`,
      confirm: `Remove ${who}`,
    })
    if (yes) remove.mutate()
  }
  if (!mayManage || member.isYou) return null
  return (
    <RowActions>
      <Menu label={`Actions for ${who}`}>
        {isUnlimited(member.role) ? (
          <MenuItem icon={<Layers2 />} disabled onSelect={() => undefined}>
            Admins and owners have one role everywhere
          </MenuItem>
        ) : (
          <MenuItem icon={<Layers2 />} onSelect={() => onRoles(member)}>
            Roles in environments…
          </MenuItem>
        )}
        <MenuItem icon={<KeyRound />} onSelect={() => reset.mutate()}>
          Password reset link
        </MenuItem>
        {isOwner && member.hasSecondFactor && (
          <MenuItem icon={<ShieldOff />} onSelect={() => void askRemoveFactors()}>
            Remove second factor…
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} danger onSelect={() => void askRemove()}>
          Remove…
        </MenuItem>
      </Menu>
    </RowActions>
  )
}

interface InvitationsProps {
  invitations: readonly Invitation[] | undefined
  query: Parameters<typeof Table<Invitation>>[0]['query'] & object
  onInvite: () => void
}

function Invitations({ invitations, query, onInvite }: InvitationsProps) {
  const [made, setMade] = useState<MadeInvitation>()
  const summaryOf = useSummary()
  const columns: Array<Column<Invitation>> = [
    { id: 'email', header: 'Email', cell: ({ email }) => <span className="font-medium">{email}</span> },
    {
      id: 'role',
      header: 'Role',
      width: 'w-28 sm:w-52',
      cell: ({ role, environmentRoles }) => (
        <>
          <span className="capitalize">{role}</span>
          <span className="block text-xs whitespace-normal text-muted first-letter:uppercase">
            {summaryOf(environmentRoles)}
          </span>
        </>
      ),
    },
    {
      id: 'by',
      header: 'Invited by',
      width: 'w-48',
      from: 'md',
      cell: ({ invitedBy }) => (
        <span className="text-muted" dir="auto">
          {invitedBy}
        </span>
      ),
    },
    {
      id: 'expires',
      header: 'Link',
      width: 'w-36',
      from: 'sm',
      cell: ({ isExpired, expiresAt }) =>
        isExpired ? (
          <Status tone="bad">Expired</Status>
        ) : (
          <span className="text-muted">
            expires <Time at={expiresAt} isAhead />
          </span>
        ),
    },
    {
      id: 'actions',
      header: <span className="sr-only">Actions</span>,
      width: 'w-14',
      cell: (invitation) => <InvitationMenu invitation={invitation} onMade={setMade} />,
    },
  ]
  return (
    <>
      <Table
        label="Invitations"
        columns={columns}
        rows={invitations}
        rowKey={({ _id }) => _id}
        query={query}
        empty={
          <NothingYet icon={<UserPlus />} title="No pending invitations" button="Invite a member" onNew={onInvite}>
            An invitation link works once and expires after seven days.
          </NothingYet>
        }
      />
      {made && (
        <LinkDialog
          title={`Invitation for ${made.email}`}
          link={made.link}
          expiresAt={made.expiresAt}
          onClose={() => setMade(undefined)}
        >
          The previous link no longer works.
        </LinkDialog>
      )}
    </>
  )
}

function InvitationMenu({ invitation, onMade }: { invitation: Invitation; onMade: (made: MadeInvitation) => void }) {
  const { _id, email, role, environmentRoles } = invitation
  const mayManage = useMayManage(role)
  const renew = useAction({
    do: () => team.invite({ email, role, environmentRoles }),
    onDone: (made) => {
      onMade(made)
      void refreshTeam()
    },
  })
  const withdraw = useAction({
    do: () => team.withdraw(_id),
    done: `Invitation of ${email} withdrawn. Its link no longer works`,
    onDone: () => void refreshTeam(),
  })
  if (!mayManage) return null
  return (
    <RowActions>
      <Menu label={`Actions for ${email}`}>
        <MenuItem icon={<Link2 />} onSelect={() => renew.mutate()}>
          New link
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} danger onSelect={() => withdraw.mutate()}>
          Withdraw
        </MenuItem>
      </Menu>
    </RowActions>
  )
}
