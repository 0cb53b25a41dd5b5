// Members, invitations, the audit log and the organization: requests and their cache keys. They belong to no environment; refresh
// them with `refreshTeam`.
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Role } from './auth.ts'
import { cache } from './cache.ts'
import { type Answer, api, type Body, type Query } from './client.ts'

export type Member = Answer<'GET /v1/auth/members'>[number]
export type Invitation = Answer<'GET /v1/auth/invitations'>[number]
export type MadeInvitation = Answer<'POST /v1/auth/invitations'>
export type AuditEntry = Answer<'GET /v1/audit'>['data'][number]
export type EnvironmentRole = Member['environmentRoles'][number]
export type OrganizationSettings = Answer<'GET /v1/organizations/settings'>

export const team = {
  members: () =>
    queryOptions({ queryKey: ['team', 'members'], queryFn: ({ signal }) => api('GET /v1/auth/members', { signal }) }),
  invitations: () =>
    queryOptions({
      queryKey: ['team', 'invitations'],
      queryFn: ({ signal }) => api('GET /v1/auth/invitations', { signal }),
    }),
  audit: (query: Query<'GET /v1/audit'>) =>
    queryOptions({
      queryKey: ['team', 'audit', query],
      queryFn: ({ signal }) => api('GET /v1/audit', { query, signal }),
      placeholderData: keepPreviousData,
    }),
  auditChain: () =>
    queryOptions({
      queryKey: ['team', 'audit', 'chain'],
      queryFn: ({ signal }) => api('GET /v1/audit/verify', { signal }),
    }),
  settings: () =>
    queryOptions({
      queryKey: ['team', 'settings'],
      queryFn: ({ signal }) => api('GET /v1/organizations/settings', { signal }),
    }),

  setEnvironmentRoles: (memberId: string, environmentRoles: EnvironmentRole[]) =>
    api('PATCH /v1/auth/members/{memberId}', { path: { memberId }, body: { environmentRoles } }),
  setRole: (memberId: string, role: Role) =>
    api('PATCH /v1/auth/members/{memberId}', { path: { memberId }, body: { role } }),
  remove: (memberId: string) => api('DELETE /v1/auth/members/{memberId}', { path: { memberId } }),
  removeFactors: (memberId: string) => api('DELETE /v1/auth/members/{memberId}/factors', { path: { memberId } }),
  requireSecondFactor: (isRequired: boolean) =>
    api('PUT /v1/auth/organization/second-factor', { body: { isRequired } }),
  resetLink: (memberId: string) => api('POST /v1/auth/members/{memberId}/reset-link', { path: { memberId } }),
  invite: (body: Body<'POST /v1/auth/invitations'>) => api('POST /v1/auth/invitations', { body }),
  withdraw: (invitationId: string) => api('DELETE /v1/auth/invitations/{invitationId}', { path: { invitationId } }),
  rename: (name: string) => api('PATCH /v1/auth/organization', { body: { name } }),
  changeSettings: (body: Body<'PATCH /v1/organizations/settings'>) => api('PATCH /v1/organizations/settings', { body }),
}

export const refreshTeam = () => cache.invalidateQueries({ queryKey: ['team'] })
