// The translation keys of a workflow, offered after `{{t.`.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Texts, translations } from '../../../api/translations.ts'
import type { Workflow } from '../../../api/workflows.ts'
import type { Variable } from '../../../ui/code/liquid.ts'

const nothing: readonly Variable[] = []

/** Those of the default locale: every other one falls back to it. */
export function useTextKeys({ workflowId, isTranslationEnabled }: Workflow): readonly Variable[] {
  const settings = useQuery({ ...translations.locales(), enabled: isTranslationEnabled })
  const locale = settings.data?.defaultLocale ?? ''
  const texts = useQuery({
    ...translations.texts({ resourceType: 'workflow', resourceId: workflowId }, locale),
    enabled: isTranslationEnabled && locale !== '',
  })
  const content = isTranslationEnabled ? texts.data?.content : undefined
  return useMemo(() => (content ? keysIn(content) : nothing), [content])
}

const longestShown = 40

/** With the beginning of the text instead of a type. */
export function keysIn(texts: Texts, above = 't'): Variable[] {
  return Object.entries(texts).flatMap(([name, value]): Variable[] => {
    const path = `${above}.${name}`
    if (typeof value === 'object' && value !== null) return keysIn(value as Texts, path)
    const text = String(value ?? '')
    return [{ path, type: text.length > longestShown ? `${text.slice(0, longestShown)}…` : text }]
  })
}
