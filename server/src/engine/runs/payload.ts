// Checks the payload of a trigger against its workflow's schema.
import { fail, type RequestError } from '../../errors.ts'
import { compileSchema } from '../../steps/json-schema/json-schema.ts'
import { type JsonSchema, type Problem, SchemaCostError, SchemaError } from '../../steps/json-schema/run.ts'

type Payload = Record<string, unknown>

export interface PayloadProblem {
  /** A dotted path; `root` is the payload itself. A missing property is named too. */
  field: string
  message: string
  value?: unknown
  schemaPath?: string
}

type PayloadCheck = { payload: Payload } | { problems: PayloadProblem[] }

/** The payload as runs see it, in a copy with the schema's defaults if it has any; or all problems. */
export function checkPayload(schema: JsonSchema, given: Payload): PayloadCheck {
  const payload = hasDefaults(schema) ? structuredClone(given) : given
  try {
    const problems = compileSchema(schema)(payload)
    return problems.length === 0 ? { payload } : { problems: problems.map(describe) }
  } catch (error) {
    if (error instanceof SchemaCostError)
      return { problems: [{ field: 'root', message: `cannot be checked with this schema: ${error.message}` }] }
    if (error instanceof SchemaError)
      return { problems: [{ field: 'root', message: `cannot be checked, the schema is unusable: ${error.message}` }] }
    throw error
  }
}

const withDefaults = new WeakMap<JsonSchema, boolean>()

/** Without defaults there is nothing to fill in, and the copy would be most of the work. */
function hasDefaults(schema: JsonSchema): boolean {
  const known = withDefaults.get(schema) ?? JSON.stringify(schema).includes('"default"')
  withDefaults.set(schema, known)
  return known
}

function describe({ path, keyword, property, message, value, schemaPath }: Problem): PayloadProblem {
  const place = path.length === 0 ? 'root' : path.join('.')
  return { field: keyword === 'required' ? `${place}.${property}` : place, message, value, schemaPath }
}

/** The answer to a trigger with an invalid payload. */
export function payloadError(schema: JsonSchema, problems: PayloadProblem[]): RequestError {
  const sentences = problems.map(({ field, message }) => `${field}: ${message}`)
  const ctx = { type: 'PAYLOAD_VALIDATION_ERROR', errors: problems, schema }
  return fail('payload_invalid', { problems: sentences }, { ctx })
}
