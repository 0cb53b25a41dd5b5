// Who is signed in, and the requests around signing in.
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { send } from './client.ts'

export const roles = ['viewer', 'editor', 'admin', 'owner'] as const
export type Role = (typeof roles)[number]

export interface Environment {
  _id: string
  name: string
  identifier: string
  type: 'dev' | 'prod'
  color: string | null
}

export interface Session {
  user: {
    _id: string
    name: string
    email: string
    role: Role
    hasPassword: boolean
    hasOidc: boolean
    createdAt: string
  }
  organization: { _id: string; name: string }
  environments: Environment[]
  session: { _id: string; createdAt: string; expiresAt: string }
}

export interface SignInOptions {
  isSetUp: boolean
  oidc: { name: string; url: string } | null
  password: { minLength: number; maxLength: number }
}

export interface LinkDetails {
  kind: 'set-up' | 'invitation' | 'reset'
  organization: string
  email: string | null
  name: string | null
  role: Role | null
  expiresAt: string
}

export interface SignedInBrowser {
  _id: string
  userAgent: string | null
  address: string
  createdAt: string
  lastSeenAt: string
  expiresAt: string
  isCurrent: boolean
}

const call = <Result>(method: string, path: string, body?: unknown) =>
  send(method, `/v1/auth${path}`, { body }) as Promise<Result>

export const auth = {
  session: () =>
    queryOptions({ queryKey: ['session'], queryFn: () => call<Session>('GET', '/session'), staleTime: 60_000 }),
  options: () => queryOptions({ queryKey: ['sign-in-options'], queryFn: () => call<SignInOptions>('GET', '/options') }),
  link: (token: string) =>
    queryOptions({
      queryKey: ['link', token],
      queryFn: () => call<LinkDetails>('POST', '/links/look-up', { token }),
      staleTime: Number.POSITIVE_INFINITY,
    }),
  browsers: () => queryOptions({ queryKey: ['browsers'], queryFn: () => call<SignedInBrowser[]>('GET', '/sessions') }),

  signIn: (body: { email: string; password: string }) => call<Session>('POST', '/sign-in', body),
  signOut: () => call<undefined>('POST', '/sign-out'),
  signOutEverywhere: () => call<undefined>('POST', '/sign-out-everywhere'),
  endBrowser: (id: string) => call<undefined>('DELETE', `/sessions/${id}`),
  setUp: (body: { token: string; name: string; email: string; password: string; organizationName?: string }) =>
    call<Session>('POST', '/set-up', body),
  acceptInvitation: (body: { token: string; name: string; password: string }) =>
    call<Session>('POST', '/invitations/accept', body),
  resetPassword: (body: { token: string; password: string }) => call<Session>('POST', '/password-reset', body),
  changeMe: (body: { name?: string; currentPassword?: string; newPassword?: string }) =>
    call<Session>('PATCH', '/me', body),
}

/** Only inside the shell, where somebody is signed in. */
export const useSession = (): Session => useSuspenseQuery(auth.session()).data

/** Whether the person may do what takes this role. The server decides; this only hides what it would refuse. */
export function useCan(needed: Role): boolean {
  const { user } = useSession()
  return roles.indexOf(user.role) >= roles.indexOf(needed)
}
