// Workflows: requests and their cache keys. Refresh with ['workflows'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment, type Query } from './client.ts'

export type WorkflowSummary = Answer<'GET /v2/workflows'>['workflows'][number]
export type Workflow = Answer<'GET /v2/workflows/{workflowId}'>
export type Brake = NonNullable<Workflow['brake']>
export type WorkflowStep = Workflow['steps'][number]
export type StepIssues = NonNullable<WorkflowStep['issues']>
export type NewerVersion = NonNullable<Answer<'PUT /v2/workflows/{workflowId}/presence'>['newer']>
export type PreviewRequest = Body<'POST /v2/workflows/{workflowId}/step/{stepId}/preview'>
export type CheckRequest = Body<'POST /v2/workflows/{workflowId}/check'>
export type StepCheck = Answer<'POST /v2/workflows/{workflowId}/check'>['steps'][number]

export const workflows = {
  list: (query: Query<'GET /v2/workflows'>) =>
    queryOptions({
      queryKey: inEnvironment('workflows', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/workflows', { query, signal }),
      placeholderData: keepPreviousData,
    }),
  one: (workflowId: string) =>
    queryOptions({
      queryKey: inEnvironment('workflows', 'one', workflowId),
      queryFn: ({ signal }) => api('GET /v2/workflows/{workflowId}', { path: { workflowId }, signal }),
    }),
  /** A step that stands in an arm, which the workflow shows in short only. */
  step: (workflowId: string, stepId: string, version: number) =>
    queryOptions({
      queryKey: inEnvironment('workflows', 'step', workflowId, stepId, version),
      queryFn: ({ signal }) =>
        api('GET /v2/workflows/{workflowId}/steps/{stepId}', { path: { workflowId, stepId }, signal }),
      placeholderData: (before, query) => (query?.queryKey[4] === stepId ? before : undefined),
      gcTime: 30_000,
    }),
  /** Says that this page shows the workflow, and asks who else does and whether there is a newer version. */
  presence: (workflowId: string, version: () => number) =>
    queryOptions({
      queryKey: inEnvironment('presence', workflowId),
      queryFn: ({ signal }) =>
        api('PUT /v2/workflows/{workflowId}/presence', { path: { workflowId }, body: { version: version() }, signal }),
      refetchInterval: 5_000,
      refetchOnWindowFocus: 'always',
      staleTime: 0,
      gcTime: 0,
    }),
  /** What a step would deliver with these values; the last preview stays until the next has loaded. */
  preview: (workflowId: string, stepId: string, body: PreviewRequest, version: string) =>
    queryOptions({
      queryKey: inEnvironment('workflows', 'preview', workflowId, stepId, version, body),
      queryFn: ({ signal }) =>
        api('POST /v2/workflows/{workflowId}/step/{stepId}/preview', { path: { workflowId, stepId }, body, signal }),
      placeholderData: (before, query) => (query?.queryKey[4] === stepId ? before : undefined),
      gcTime: 30_000,
    }),
  /** What each step would do with an example. The last answer stays until the next has come. */
  check: (workflowId: string, body: CheckRequest, version: number) =>
    queryOptions({
      queryKey: inEnvironment('workflows', 'check', workflowId, version, body),
      queryFn: ({ signal }) => api('POST /v2/workflows/{workflowId}/check', { path: { workflowId }, body, signal }),
      placeholderData: keepPreviousData,
      gcTime: 30_000,
    }),

  /** The emails that count for the brake. */
  brake: (workflowId: string) =>
    queryOptions({
      queryKey: inEnvironment('workflows', 'brake', workflowId),
      queryFn: ({ signal }) => api('GET /v2/workflows/{workflowId}/brake', { path: { workflowId }, signal }),
    }),
  releaseBrake: (workflowId: string) => api('POST /v2/workflows/{workflowId}/release-brake', { path: { workflowId } }),

  remove: (workflowId: string) => api('DELETE /v2/workflows/{workflowId}', { path: { workflowId } }),
  duplicate: (workflowId: string) =>
    api('POST /v2/workflows/{workflowId}/duplicate', { path: { workflowId }, body: {} }),
  setActive: (workflowId: string, active: boolean) =>
    api('PATCH /v2/workflows/{workflowId}', { path: { workflowId }, body: { active } }),
  sync: (workflowId: string, targetEnvironmentId: string) =>
    api('PUT /v2/workflows/{workflowId}/sync', { path: { workflowId }, body: { targetEnvironmentId } }),
}
