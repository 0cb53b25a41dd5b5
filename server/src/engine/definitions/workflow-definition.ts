// A workflow as files and other environments know it: the body of its creation, without ids, times and defaults.
import type { WorkflowFields, WorkflowStep } from '../../db/queries/workflows.ts'
import { withLists } from '../../steps/contract/tree.ts'
import { channelNames, completePreferences, type PartialPreferences } from '../core/preferences.ts'
import { isEmptyObject, withBlockText } from './definition-values.ts'

export type Definition = Record<string, unknown>

/** The schema of a workflow made without one: allows anything. */
export const openPayload = { type: 'object', additionalProperties: true, properties: {} }

type Defined = Pick<
  WorkflowFields,
  | 'identifier'
  | 'name'
  | 'description'
  | 'tags'
  | 'active'
  | 'validate_payload'
  | 'payload_schema'
  | 'is_translation_enabled'
  | 'severity'
  | 'message_class'
  | 'consent_category'
  | 'preferences'
  | 'user_preferences'
  | 'steps'
> &
  Partial<Pick<WorkflowFields, 'journey' | 'tracking'>>

/** In the order of the API reference. What creation takes by default is left out, but `active` and `validatePayload` are said. */
export function workflowDefinition(row: Defined): Definition {
  const preferences = preferencesIn(row)
  return {
    workflowId: row.identifier,
    name: row.name,
    ...(row.description === '' ? {} : { description: row.description }),
    ...(row.tags.length === 0 ? {} : { tags: row.tags }),
    active: row.active,
    validatePayload: row.validate_payload,
    ...(isOpen(row.payload_schema) ? {} : { payloadSchema: row.payload_schema }),
    ...(row.is_translation_enabled ? { isTranslationEnabled: true } : {}),
    ...(row.severity === 'none' ? {} : { severity: row.severity }),
    ...(row.message_class === 'transactional' ? {} : { messageClass: row.message_class }),
    ...(row.consent_category === null ? {} : { consentCategory: row.consent_category }),
    ...(row.tracking ? { tracking: row.tracking } : {}),
    ...(isEmptyObject(preferences) ? {} : { preferences }),
    ...(!row.journey || isEmptyObject(row.journey) ? {} : { journey: row.journey }),
    steps: row.steps.map(stepDefinition),
  }
}

/** No schema, and one that allows anything, are the same. */
function isOpen(schema: Record<string, unknown> | null): boolean {
  if (schema === null) return true
  const { type, additionalProperties, properties, ...others } = schema
  return type === 'object' && additionalProperties === true && isEmptyObject(properties) && isEmptyObject(others)
}

function stepDefinition(step: WorkflowStep): Definition {
  const { stepId, name, type, active, shouldStopOnFail, onUnknown, replyCallback, filters, variants } = step
  return {
    stepId,
    name,
    type,
    ...valuesOf(withLists(step, (steps) => steps.map(stepDefinition)).controlValues),
    ...(active === false ? { active } : {}),
    ...(shouldStopOnFail ? { shouldStopOnFail } : {}),
    ...(onUnknown === undefined ? {} : { onUnknown }),
    ...(replyCallback === undefined || isEmptyObject(replyCallback) ? {} : { replyCallback }),
    ...(filters === undefined || filters.length === 0 ? {} : { filters }),
    ...(variants === undefined || variants.length === 0
      ? {}
      : {
          variants: variants.map((variant) => ({
            ...(variant.name === undefined ? {} : { name: variant.name }),
            ...(variant.active === false ? { active: false } : {}),
            filters: variant.filters,
            ...valuesOf(variant.controlValues),
          })),
        }),
  }
}

const valuesOf = (values: Definition | null): Definition =>
  values === null || isEmptyObject(values) ? {} : { controlValues: withBlockText(values) }

/** Preferences of users may be all defaults and still count: they replace the workflow's own. */
function preferencesIn(row: Pick<Defined, 'preferences' | 'user_preferences'>): Definition {
  const workflow = shortPreferences(row.preferences)
  return {
    ...(row.user_preferences === null ? {} : { user: shortPreferences(row.user_preferences) }),
    ...(isEmptyObject(workflow) ? {} : { workflow }),
  }
}

/** Only what `completePreferences` would not fill in. */
function shortPreferences(given: PartialPreferences): Definition {
  const { all, channels } = completePreferences(given)
  const shortAll = { ...(all.enabled ? {} : { enabled: false }), ...(all.readOnly ? { readOnly: true } : {}) }
  const own = channelNames.filter((name) => channels[name].enabled !== all.enabled)
  return {
    ...(isEmptyObject(shortAll) ? {} : { all: shortAll }),
    ...(own.length === 0 ? {} : { channels: Object.fromEntries(own.map((name) => [name, channels[name]])) }),
  }
}
