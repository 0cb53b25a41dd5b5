// The pages of the sidebar, in the order people need them. The palette lists them too.
import {
  Activity,
  Ban,
  Bell,
  Boxes,
  CalendarClock,
  CircleHelp,
  CircleUser,
  ClipboardCheck,
  Contact,
  DoorOpen,
  FileStack,
  FlaskConical,
  Hash,
  KeyRound,
  Languages,
  Layers2,
  type LucideIcon,
  MailWarning,
  Plug,
  RadioTower,
  Rocket,
  ScrollText,
  Settings,
  Truck,
  Users,
  Variable,
  Webhook,
  Workflow,
} from 'lucide-react'
import type { Role } from '../api/auth.ts'

export interface NavigationItem {
  to: string
  label: string
  icon: LucideIcon
  /** Hidden from lower roles. */
  needs?: Role
  /** Search synonyms. */
  keywords?: string
}

export const navigation: Array<{ label?: string; items: NavigationItem[] }> = [
  {
    items: [
      { to: '/workflows', label: 'Workflows', icon: Workflow, keywords: 'templates notifications' },
      { to: '/activity', label: 'Activity', icon: Activity, keywords: 'runs feed log' },
      { to: '/events', label: 'Events', icon: RadioTower, keywords: 'posted waits journeys' },
      { to: '/questions', label: 'Questions', icon: CircleHelp, keywords: 'ask answers approval escalation' },
      { to: '/rotas', label: 'Rotas', icon: CalendarClock, keywords: 'on call duty shifts escalation' },
      { to: '/subscribers', label: 'Subscribers', icon: Contact, keywords: 'users recipients' },
      { to: '/suppressions', label: 'Suppressions', icon: Ban, keywords: 'bounces complaints unsubscribed consent' },
      { to: '/topics', label: 'Topics', icon: Hash, keywords: 'groups' },
      {
        to: '/inbox',
        label: 'Inbox',
        icon: Bell,
        keywords: 'docs demo help embed widget element snippet install hmac react vue bell',
      },
      { to: '/contexts', label: 'Contexts', icon: Boxes, keywords: 'tenants' },
      { to: '/layouts', label: 'Layouts', icon: FileStack },
      { to: '/translations', label: 'Translations', icon: Languages, keywords: 'locales languages' },
    ],
  },
  {
    label: 'Delivery',
    items: [
      { to: '/integrations', label: 'Integrations', icon: Plug, keywords: 'providers channels' },
      { to: '/sandbox', label: 'Sandbox', icon: FlaskConical, keywords: 'mailbox test' },
      { to: '/deliveries', label: 'Failed deliveries', icon: MailWarning, keywords: 'redrive errors' },
      { to: '/webhooks', label: 'Webhooks', icon: Webhook },
    ],
  },
  {
    label: 'Organization',
    items: [
      { to: '/environments', label: 'Environments', icon: Layers2, keywords: 'publish production' },
      { to: '/approvals', label: 'Approvals', icon: ClipboardCheck, keywords: 'publish requests review approve' },
      { to: '/variables', label: 'Variables', icon: Variable },
      { to: '/api-keys', label: 'API keys', icon: KeyRound, needs: 'admin', keywords: 'secret token' },
      { to: '/team', label: 'Team', icon: Users, keywords: 'members invite roles' },
      { to: '/audit', label: 'Audit', icon: ScrollText, needs: 'admin', keywords: 'log history' },
      {
        to: '/moving-in',
        label: 'Moving in',
        icon: Truck,
        needs: 'editor',
        keywords: 'import migrate novu knock courier onesignal pinpoint csv',
      },
      { to: '/settings', label: 'Settings', icon: Settings },
    ],
  },
]

/** In the palette only. */
export const otherPages: NavigationItem[] = [
  { to: '/explain', label: 'Would they get it?', icon: DoorOpen, keywords: 'explain why not simulate gates somebody' },
  { to: '/start', label: 'Guided start', icon: Rocket, keywords: 'onboarding quickstart first' },
  { to: '/account', label: 'Your account', icon: CircleUser, keywords: 'password profile sessions sign out' },
]

/** What belongs to the organization goes by the real clock, also where that of the environment is held. */
const onRealTime = [
  '/account',
  '/api-keys',
  '/approvals',
  '/audit',
  '/environments',
  '/team',
  '/variables',
  '/webhooks',
]

export const isOnRealTime = (path: string): boolean =>
  onRealTime.some((page) => path === page || path.startsWith(`${page}/`))
