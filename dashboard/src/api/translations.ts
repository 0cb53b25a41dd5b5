// Translations of workflows and layouts: requests and their cache keys. Refresh with ['translations'].
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { type Answer, ApiError, api, type Body, inEnvironment, type Query } from './client.ts'

export type TranslationGroup = Answer<'GET /v2/translations/list'>['data'][number]
export type Texts = Record<string, unknown>
export type Resource = Pick<TranslationGroup, 'resourceType' | 'resourceId'>
export type LocaleSettings = Answer<'GET /v1/organizations/settings'>

export const translations = {
  list: (query: Query<'GET /v2/translations/list'>) =>
    queryOptions({
      queryKey: inEnvironment('translations', 'list', query),
      queryFn: ({ signal }) => api('GET /v2/translations/list', { query, signal }),
      placeholderData: keepPreviousData,
    }),
  group: ({ resourceType, resourceId }: Resource) =>
    queryOptions({
      queryKey: inEnvironment('translations', 'group', resourceType, resourceId),
      queryFn: ({ signal }) =>
        api('GET /v2/translations/group/{resourceType}/{resourceId}', { path: { resourceType, resourceId }, signal }),
    }),
  texts: ({ resourceType, resourceId }: Resource, locale: string) =>
    queryOptions({
      queryKey: inEnvironment('translations', 'texts', resourceType, resourceId, locale),
      queryFn: ({ signal }) => translations.textsOnce({ resourceType, resourceId }, locale, signal),
    }),
  locales: () =>
    queryOptions({
      queryKey: inEnvironment('translations', 'locales'),
      queryFn: ({ signal }) => api('GET /v1/organizations/settings', { signal }),
    }),

  /** Null if the locale has no texts yet. */
  async textsOnce(
    { resourceType, resourceId }: Resource,
    locale: string,
    signal?: AbortSignal,
  ): Promise<{ content: Texts; updatedAt: string | null }> {
    try {
      const path = { resourceType, resourceId, locale }
      const request = { path, ...(signal ? { signal } : {}) }
      return await api('GET /v2/translations/{resourceType}/{resourceId}/{locale}', request)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'translation_not_found') return { content: {}, updatedAt: null }
      throw error
    }
  },
  write: (resource: Resource, locale: string, content: Texts) =>
    api('POST /v2/translations', { body: { ...pick(resource), locale, content } }),
  removeLocale: ({ resourceType, resourceId }: Resource, locale: string) =>
    api('DELETE /v2/translations/{resourceType}/{resourceId}/{locale}', { path: { resourceType, resourceId, locale } }),
  removeAll: ({ resourceType, resourceId }: Resource) =>
    api('DELETE /v2/translations/{resourceType}/{resourceId}', { path: { resourceType, resourceId } }),
  upload: ({ resourceType, resourceId }: Resource, files: readonly File[]) => {
    const form = new FormData()
    form.append('resourceType', resourceType)
    form.append('resourceId', resourceId)
    for (const file of files) form.append('files', file)
    return api('POST /v2/translations/upload', { body: form })
  },
  master: (locale: string) => api('GET /v2/translations/master-json', { query: { locale } }),
  importMaster: (body: Body<'POST /v2/translations/master-json'>) => api('POST /v2/translations/master-json', { body }),
  changeLocales: (body: { defaultLocale: string; targetLocales: string[] }) =>
    api('PATCH /v1/organizations/settings', { body }),

  /** Turns translation on: from now on its templates can use texts by key. */
  async enable({ resourceType, resourceId }: Resource): Promise<void> {
    if (resourceType === 'workflow') {
      const path = { workflowId: resourceId }
      await api('PATCH /v2/workflows/{workflowId}', { path, body: { isTranslationEnabled: true } })
      return
    }
    const path = { layoutId: resourceId }
    const { name } = await api('GET /v2/layouts/{layoutId}', { path })
    await api('PUT /v2/layouts/{layoutId}', { path, body: { name, isTranslationEnabled: true } })
  },
}

const pick = ({ resourceType, resourceId }: Resource) => ({ resourceType, resourceId })
