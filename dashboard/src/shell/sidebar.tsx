import { Link, useNavigate } from '@tanstack/react-router'
import { Check, ChevronsUpDown, CircleUser, Hourglass, LogOut, Monitor, Moon, Search, Sun } from 'lucide-react'
import { toast } from 'sonner'
import { useWaiting } from '../api/approvals.ts'
import { auth, useCan, useSession } from '../api/auth.ts'
import { cache } from '../api/cache.ts'
import { Avatar, EnvironmentDot } from '../ui/base/avatar.tsx'
import { Badge } from '../ui/base/status.tsx'
import { Kbd } from '../ui/base/tooltip.tsx'
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuLink, MenuOption, MenuSeparator } from '../ui/frame/menu.tsx'
import { useEnvironment, useSwitchEnvironment } from './environment.ts'
import { Mark } from './mark.tsx'
import { type NavigationItem, navigation } from './navigation.ts'
import { setTheme, type Theme, useTheme } from './theme.ts'

interface SidebarProps {
  onSearch: () => void
  /** On a phone: an item was chosen, so close the drawer. */
  onChosen?: () => void
}

export function Sidebar({ onSearch, onChosen }: SidebarProps) {
  return (
    <div className="flex h-full flex-col">
      <div className="space-y-2 p-3 pb-2">
        <EnvironmentSwitcher />
        <button
          type="button"
          onClick={onSearch}
          className="flex h-8 w-full items-center gap-2 rounded-control border bg-page px-2.5 text-sm text-muted transition-colors duration-120 hover:border-line-strong hover:text-ink pointer-coarse:h-10"
        >
          <Search className="size-3.5" aria-hidden />
          <span className="flex-1 text-left">Search</span>
          <Kbd keys="mod+k" className="pointer-coarse:hidden" />
        </button>
      </div>
      <nav aria-label="Pages" className="min-h-0 flex-1 overflow-y-auto px-3 pb-3">
        {navigation.map(({ label, items }) => (
          <div key={items[0]?.to} className="mb-3">
            {label && <h2 className="px-2 pt-1 pb-1.5 text-xs font-medium text-muted">{label}</h2>}
            <ul className="space-y-px">
              {items.map((item) => (
                <Item key={item.to} item={item} {...(onChosen ? { onChosen } : {})} />
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="border-t p-2">
        <UserMenu />
      </div>
    </div>
  )
}

function Item({ item, onChosen }: { item: NavigationItem; onChosen?: () => void }) {
  const { to, label, icon: Icon, needs = 'viewer' } = item
  const isAllowed = useCan(needs)
  if (!isAllowed) return null
  return (
    <li>
      <Link
        to={to as '/'}
        {...(onChosen ? { onClick: onChosen } : {})}
        activeOptions={{ includeSearch: false }}
        className="group flex h-8 items-center gap-2.5 rounded-control px-2 text-sm text-muted transition-colors duration-120 hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:font-medium data-[status=active]:text-ink pointer-coarse:h-10"
      >
        <Icon className="size-4 shrink-0 group-data-[status=active]:text-accent" aria-hidden />
        {label}
        {to === '/approvals' && <Waiting />}
      </Link>
    </li>
  )
}

/** How many publish requests wait for this person. */
function Waiting() {
  const count = useWaiting()
  if (count === 0) return null
  return (
    <Badge tone="warn" className="ml-auto tabular-nums">
      {count}
      <span className="sr-only"> waiting for you</span>
    </Badge>
  )
}

function EnvironmentSwitcher() {
  const { organization, environments, user } = useSession()
  const environment = useEnvironment()
  const switchTo = useSwitchEnvironment()
  return (
    <Menu
      align="start"
      className="w-56"
      trigger={
        <button
          type="button"
          className="flex h-11 w-full items-center gap-2.5 rounded-control px-1.5 text-left transition-colors duration-120 hover:bg-hover data-[state=open]:bg-hover"
        >
          <Mark />
          <span className="min-w-0 flex-1">
            <span className="block truncate text-sm font-semibold">{organization.name}</span>
            <span className="flex items-center gap-1.5 text-xs text-muted">
              <EnvironmentDot color={environment.color} />
              <span className="sr-only">Environment: </span>
              <span className="truncate">{environment.name}</span>
              {environment.clock && <Held />}
            </span>
          </span>
          <ChevronsUpDown className="size-3.5 shrink-0 text-faint" aria-hidden />
        </button>
      }
    >
      <MenuLabel>Environment</MenuLabel>
      {environments.map((one) => (
        <MenuItem key={one._id} icon={<EnvironmentDot color={one.color} />} onSelect={() => switchTo(one)}>
          <span className="flex items-center justify-between gap-2">
            <span className="flex min-w-0 items-center gap-1.5">
              <span className="truncate">{one.name}</span>
              {one.clock && <Held />}
            </span>
            {one.role !== user.role && <span className="ml-auto text-xs text-muted capitalize">{one.role}</span>}
            {one._id === environment._id && <Check aria-label="chosen" />}
          </span>
        </MenuItem>
      ))}
    </Menu>
  )
}

/** Beside the name of an environment whose clock is held. */
const Held = () => (
  <span title="Its clock is held" className="inline-flex shrink-0">
    <Hourglass aria-hidden className="size-3.5 text-warn!" />
    <span className="sr-only">(clock held)</span>
  </span>
)

function UserMenu() {
  const { user } = useSession()
  const { role } = useEnvironment()
  const theme = useTheme()
  const navigate = useNavigate()
  const signOut = async () => {
    try {
      await auth.signOut()
      await navigate({ to: '/sign-in', search: {} })
      cache.clear()
    } catch (error) {
      toast.error((error as Error).message)
    }
  }
  return (
    <Menu
      align="start"
      className="w-56"
      trigger={
        <button
          type="button"
          className="flex h-10 w-full items-center gap-2.5 rounded-control px-2 text-left transition-colors duration-120 hover:bg-hover data-[state=open]:bg-hover"
        >
          <Avatar name={user.name || user.email} />
          <span className="sr-only">Your account: </span>
          <span className="min-w-0 flex-1">
            <span className="block truncate text-sm">{user.name}</span>
            <span className="block truncate text-xs text-muted capitalize">{role}</span>
          </span>
        </button>
      }
    >
      <MenuLabel>{user.email}</MenuLabel>
      <MenuLink to="/account" icon={<CircleUser />}>
        Your account
      </MenuLink>
      <MenuSeparator />
      <MenuLabel>Theme</MenuLabel>
      <MenuChoice value={theme} onValue={(value) => setTheme(value as Theme)}>
        <MenuOption value="system" icon={<Monitor />}>
          System
        </MenuOption>
        <MenuOption value="light" icon={<Sun />}>
          Light
        </MenuOption>
        <MenuOption value="dark" icon={<Moon />}>
          Dark
        </MenuOption>
      </MenuChoice>
      <MenuSeparator />
      <MenuItem icon={<LogOut />} onSelect={() => void signOut()}>
        Sign out
      </MenuItem>
    </Menu>
  )
}
