// The fields of a step: values from dataSchema, components from uiSchema.
import type { JsonSchema } from '../../../ui/code/liquid.ts'
import { objectOf } from './step-context.ts'

export interface SchemaField {
  name: string
  schema: JsonSchema
  /** From the uiSchema; undefined for values that only the dataSchema has. */
  component: string | undefined
  placeholder: string
  isRequired: boolean
}

/** In the order of the uiSchema, then other fields of the dataSchema. Of several variants, the first that has the name. */
export function fieldsOf(controls: {
  dataSchema?: JsonSchema | undefined
  uiSchema?: JsonSchema | undefined
}): SchemaField[] {
  const { dataSchema = {}, uiSchema = {} } = controls
  const variants = [
    dataSchema,
    ...[dataSchema.anyOf, dataSchema.oneOf].flatMap((list) => (Array.isArray(list) ? list : [])),
  ]
  const schemas = new Map<string, JsonSchema>()
  const required = new Set<string>()
  for (const variant of variants.map(objectOf)) {
    for (const [name, schema] of Object.entries(objectOf(variant.properties)))
      if (!schemas.has(name)) schemas.set(name, objectOf(schema))
    for (const name of Array.isArray(variant.required) ? variant.required : []) required.add(String(name))
  }
  const shown = objectOf(uiSchema.properties)
  const names = new Set([...Object.keys(shown), ...schemas.keys()])
  return [...names].map((name) => {
    const ui = objectOf(shown[name])
    const { placeholder } = ui
    return {
      name,
      schema: schemas.get(name) ?? {},
      component: typeof ui.component === 'string' ? ui.component : undefined,
      placeholder: typeof placeholder === 'string' || typeof placeholder === 'number' ? String(placeholder) : '',
      isRequired: required.has(name),
    }
  })
}

/** `disableOutputSanitization` becomes "Disable output sanitization". */
export function wordsOf(name: string): string {
  const words = name.replaceAll(/[_-]+/g, ' ').replaceAll(/([a-z\d])([A-Z])/g, (_, before: string, letter: string) => {
    return `${before} ${letter.toLowerCase()}`
  })
  return words.charAt(0).toUpperCase() + words.slice(1)
}
