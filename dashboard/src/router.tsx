// Every page, one line each. Pages are loaded when they are first opened.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { auth, type Session } from './api/auth.ts'
import { cache } from './api/cache.ts'
import { ApiError } from './api/client.ts'
import { AppShell } from './shell/app-shell.tsx'
import { Crash, NotFound, PagePending } from './shell/trouble.tsx'
import { parseSearch, stringifySearch } from './ui/list/url-state.ts'

/** The search parameters of any page; each page reads those it knows (ui/list/url-state.ts). */
type Search = Record<string, string | string[] | undefined>
type Load = () => Promise<{ Page: ComponentType }>

const root = createRootRoute({
  component: Outlet,
  validateSearch: (search): Search => search as Search,
  // Every link keeps the current environment.
  search: {
    middlewares: [
      ({ search, next }) => {
        const after = next(search)
        return 'env' in after ? after : { ...after, env: search.env }
      },
    ],
  },
  notFoundComponent: NotFound,
})

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: AppShell,
  beforeLoad: async ({ location }) => {
    let session: Session | undefined
    try {
      session = await cache.ensureQueryData(auth.session())
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      const search = location.href === '/' ? {} : { returnTo: location.href }
      redirect({ to: '/sign-in', search, replace: true, throw: true })
    }
    if (session?.secondFactor.mustSetUp)
      redirect({ to: '/second-factor', search: { returnTo: location.href }, replace: true, throw: true })
  },
})

/** A page inside the shell. `/topics/{-$topicKey}` is a list; with a key, its sheet is open. */
const page = <const Path extends string>(path: Path, load: Load) =>
  createRoute({ getParentRoute: () => shell, path, component: lazyRouteComponent(load, 'Page') })

/** A page outside the shell, before sign-in. */
const bare = <const Path extends string>(path: Path, load: Load) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load, 'Page') })

const routes = root.addChildren([
  bare('/sign-in', () => import('./pages/sign-in/sign-in.tsx')),
  bare('/setup', () => import('./pages/sign-in/setup.tsx')),
  bare('/invitation', () => import('./pages/sign-in/invitation.tsx')),
  bare('/second-factor', () => import('./pages/sign-in/set-up-factor.tsx')),
  bare('/forgot-password', () => import('./pages/sign-in/forgot-password.tsx')),
  bare('/reset', () => import('./pages/sign-in/reset.tsx')),
  shell.addChildren([
    page('/activity/{-$runId}', () => import('./pages/activity/activity.tsx')),
    page('/events/{-$eventId}', () => import('./pages/events/events.tsx')),
    page('/questions/{-$questionId}', () => import('./pages/questions/questions.tsx')),
    page('/rotas/{-$rotaId}', () => import('./pages/rotas/rotas.tsx')),
    page('/deliveries', () => import('./pages/deliveries/deliveries.tsx')),
    page('/sandbox/{-$messageId}', () => import('./pages/sandbox/sandbox.tsx')),
    page('/account', () => import('./pages/account/account.tsx')),
    page('/integrations/{-$integrationId}', () => import('./pages/integrations/integrations.tsx')),
    page('/environments', () => import('./pages/environments/environments.tsx')),
    page('/approvals/{-$requestId}', () => import('./pages/approvals/approvals.tsx')),
    page('/variables/{-$variableKey}', () => import('./pages/variables/variables.tsx')),
    page('/api-keys', () => import('./pages/api-keys/api-keys.tsx')),
    page('/webhooks/{-$endpointId}', () => import('./pages/webhooks/webhooks.tsx')),
    page('/team', () => import('./pages/team/team.tsx')),
    page('/moving-in', () => import('./pages/moving-in/moving-in.tsx')),
    page('/audit', () => import('./pages/audit/audit.tsx')),
    page('/settings', () => import('./pages/settings/settings.tsx')),
    page('/inbox', () => import('./pages/inbox/inbox.tsx')),
    page('/explain', () => import('./pages/explain/explain.tsx')),
    page('/start', () => import('./pages/start/start.tsx')),
    page('/workflows', () => import('./pages/workflows/workflows.tsx')),
    page('/workflows/$workflowId', () => import('./pages/workflows/editor.tsx')),
    page('/workflows/$workflowId/history', () => import('./pages/history/history.tsx')),
    page('/layouts/$layoutId/history', () => import('./pages/history/history.tsx')),
    page('/contexts/{-$contextKey}', () => import('./pages/contexts/contexts.tsx')),
    page('/subscribers/{-$subscriberId}', () => import('./pages/subscribers/subscribers.tsx')),
    page('/suppressions/{-$suppressionId}', () => import('./pages/suppressions/suppressions.tsx')),
    page('/topics/{-$topicKey}', () => import('./pages/topics/topics.tsx')),
    page('/layouts', () => import('./pages/layouts/layouts.tsx')),
    page('/layouts/$layoutId', () => import('./pages/layouts/editor.tsx')),
    page('/translations/{-$resource}', () => import('./pages/translations/translations.tsx')),
    page('/', () => import('./pages/start/home.tsx')),
    createRoute({ getParentRoute: () => shell, path: '/$', component: NotFound }),
  ]),
])

export const router = createRouter({
  routeTree: routes,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 150,
  defaultPendingComponent: PagePending,
  defaultErrorComponent: Crash,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
  parseSearch,
  stringifySearch,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
