// Who is signed in, and the requests around signing in.
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { type Answer, api, type Body, currentEnvironment } from './client.ts'

export const roles = ['viewer', 'editor', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]
export type Session = Answer<'GET /v1/auth/session'>
export type Environment = Session['environments'][number]

// Sessions belong to no environment, so these keys have no environment id in front.
export const auth = {
  session: () => queryOptions({ queryKey: ['session'], queryFn: () => api('GET /v1/auth/session'), staleTime: 60_000 }),
  options: () => queryOptions({ queryKey: ['sign-in-options'], queryFn: () => api('GET /v1/auth/options') }),
  link: (token: string) =>
    queryOptions({
      queryKey: ['link', token],
      queryFn: () => api('POST /v1/auth/links/look-up', { body: { token } }),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  browsers: () => queryOptions({ queryKey: ['browsers'], queryFn: () => api('GET /v1/auth/sessions') }),

  signIn: (body: Body<'POST /v1/auth/sign-in'>) => api('POST /v1/auth/sign-in', { body }),
  signOut: () => api('POST /v1/auth/sign-out'),
  signOutEverywhere: () => api('POST /v1/auth/sign-out-everywhere'),
  signOutOthers: () => api('DELETE /v1/auth/sessions'),
  endBrowser: (sessionId: string) => api('DELETE /v1/auth/sessions/{sessionId}', { path: { sessionId } }),
  setUp: (body: Body<'POST /v1/auth/set-up'>) => api('POST /v1/auth/set-up', { body }),
  acceptInvitation: (body: Body<'POST /v1/auth/invitations/accept'>) =>
    api('POST /v1/auth/invitations/accept', { body }),
  forgotPassword: (body: Body<'POST /v1/auth/forgot-password'>) => api('POST /v1/auth/forgot-password', { body }),
  resetPassword: (body: Body<'POST /v1/auth/password-reset'>) => api('POST /v1/auth/password-reset', { body }),
  changeMe: (body: Body<'PATCH /v1/auth/me'>) => api('PATCH /v1/auth/me', { body }),
}

/** Only for pages inside the shell, which needs a session. */
export const useSession = (): Session => useSuspenseQuery(auth.session()).data

export const isAtLeast = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed)

/** The current environment as the session has it; undefined without access to any. */
function useHere(): Environment | undefined {
  return useSession().environments.find(({ _id }) => _id === currentEnvironment())
}

/**
 * Whether the user has this role or a higher one in the current environment. The server decides; this only hides what it would
 * refuse.
 */
export function useCan(needed: Role): boolean {
  const { user } = useSession()
  return isAtLeast(useHere()?.role ?? user.role, needed)
}

/** The same in the organization: for the team, and for what all environments share. */
export const useCanInOrganization = (needed: Role): boolean => isAtLeast(useSession().user.role, needed)

/** Whether the current environment is protected: then its content changes by approved publishing only. */
export const useIsProtected = (): boolean => useHere()?.isProtected === true

/** Whether the user may change workflows, layouts and translations here. */
export function useCanEditContent(): boolean {
  const isProtected = useIsProtected()
  return useCan('editor') && !isProtected
}
