// The variables that a step can use, as a JSON Schema: the editor offers them, and templates are checked against them.

import { type ControlValues, objectSchema, openObject, type StepType } from '../contract/kind.ts'
import { resolve } from '../json-schema/json-schema.ts'
import { type JsonSchema, SchemaError } from '../json-schema/run.ts'
import { stepKinds } from '../kinds/index.ts'
import type { Path } from './templates.ts'

const text = { type: 'string' }
const severities = ['high', 'medium', 'low', 'none']

const workflow = objectSchema(
  {
    workflowId: text,
    name: text,
    description: text,
    tags: { type: 'array', items: text },
    severity: { type: 'string', enum: severities },
  },
  ['workflowId', 'name'],
)

interface PreviousStep {
  stepId: string
  type: string
  controlValues: ControlValues | null
}

export interface VariableSources {
  /** In their order; a step sees only earlier ones. */
  previous: readonly PreviousStep[]
  payloadSchema: JsonSchema | null
  /** What the templates of the whole workflow read. */
  used: readonly Path[]
  /** The environment variables that have a value here. */
  envKeys: readonly string[]
  /** The links that it can show. */
  links?: readonly string[]
}

export function stepVariables({ previous, payloadSchema, used, envKeys, links = [] }: VariableSources): JsonSchema {
  return objectSchema({
    workflow,
    subscriber: subscriberVariables(used),
    steps: objectSchema(
      Object.fromEntries(previous.map((step) => [step.stepId, resultOf(step, payloadSchema ?? undefined)])),
    ),
    payload: payloadSchema ?? payloadVariables(used),
    context: contextVariables(used),
    env: envVariables(envKeys),
    ...linkVariables(links),
  })
}

/** Addresses that stand alone, such as `unsubscribe_url`. */
export const linkVariables = (names: readonly string[]): Record<string, JsonSchema> =>
  Object.fromEntries(names.map((name) => [name, text]))

function resultOf({ type, controlValues }: PreviousStep, payloadSchema: JsonSchema | undefined): JsonSchema {
  return stepKinds[type as StepType]?.resultSchema(controlValues ?? {}, payloadSchema) ?? openObject
}

/** Without a schema: anything, with the names that templates read. */
export const payloadVariables = (used: readonly Path[]): JsonSchema => listed(below('payload', used))

export const subscriberVariables = (used: readonly Path[]): JsonSchema =>
  objectSchema(
    {
      firstName: text,
      lastName: text,
      email: text,
      phone: text,
      avatar: text,
      locale: text,
      timezone: text,
      subscriberId: text,
      isOnline: { type: 'boolean' },
      lastOnlineAt: { type: 'string', format: 'date-time' },
      data: listed(below('data', below('subscriber', used))),
    },
    ['subscriberId'],
  )

/** A trigger may bring any type of context; those that templates name are listed. */
export function contextVariables(used: readonly Path[]): JsonSchema {
  const paths = below('context', used)
  const types = [...new Set(paths.map(([type]) => type).filter((type) => typeof type === 'string'))]
  const entity = (data: readonly Path[], required: string[]) => objectSchema({ id: text, data: listed(data) }, required)
  return {
    type: 'object',
    properties: Object.fromEntries(types.map((type) => [type, entity(below('data', below(type, paths)), ['id'])])),
    required: [],
    additionalProperties: entity([], []),
  }
}

/** Of the tenant that a trigger may name. Contexts replaced it, so it is not offered. */
export const tenantVariables = objectSchema({ identifier: text, name: text, data: openObject }, ['identifier'])

/** `name` and `type` are built in. */
export const envVariables = (keys: readonly string[]): JsonSchema =>
  objectSchema(Object.fromEntries([...keys, 'name', 'type'].map((key) => [key, text])))

const below = (root: string, paths: readonly Path[]): Path[] =>
  paths.filter(([first]) => first === root).map((path) => path.slice(1))

const mostListed = 500

/** An open object with the members that the paths go through. */
function listed(paths: readonly Path[], depth = 0): JsonSchema {
  const names = [...new Set(paths.map(([first]) => first).filter((first) => typeof first === 'string'))]
  const properties = names.slice(0, mostListed).map((name): [string, JsonSchema] => {
    const inner = below(name, paths).filter((path) => path.length > 0)
    const isList = inner.some(([first]) => typeof first !== 'string')
    if (!isList || depth >= deepestListed) return [name, membersOf(inner, depth)]
    // Blocks name an item's members as if they were the list's.
    const ofItems = inner.map((path) => (isMember(path) ? path : path.slice(1))).filter((path) => path.length > 0)
    return [name, { type: 'array', items: membersOf(ofItems, depth + 1) }]
  })
  return { type: 'object', properties: Object.fromEntries(properties), required: [], additionalProperties: true }
}

const deepestListed = 20
const membersOf = (paths: readonly Path[], depth: number): JsonSchema =>
  paths.some(isMember) && depth < deepestListed ? listed(paths, depth + 1) : {}
const isMember = ([first]: Path) => typeof first === 'string' && !listMembers.has(first)

/** What every list has and, for `size`, every string. */
const listMembers = new Set(['size', 'length', 'first', 'last'])

/**
 * Whether a path leads somewhere: to a declared property, to an item of a list or one of its properties, or into an open
 * object. References resolve in the payload schema, which brings its own definitions.
 */
export function allows(schema: unknown, path: Path, references: JsonSchema | null, budget = { left: 1_000 }): boolean {
  budget.left -= 1
  const [first, ...rest] = path
  if (first === undefined || budget.left < 0 || schema === true) return true
  if (typeof schema !== 'object' || schema === null) return false
  const at = schema as JsonSchema
  const goOn = (inner: unknown, along: Path) => allows(inner, along, references, budget)
  if (typeof at.$ref === 'string' && references) {
    const target = targetOf(references, at.$ref)
    return target === undefined || goOn(target, path)
  }
  const branches = [at.anyOf, at.oneOf, at.allOf].flatMap((list) => (Array.isArray(list) ? list : []))
  if (branches.some((branch) => goOn(branch, path))) return true
  const types = [at.type].flat()
  if (types.includes('array') || at.items !== undefined) {
    const items = Array.isArray(at.items) ? { anyOf: at.items } : (at.items ?? true)
    if (typeof first === 'number' || first === null || /^\d+$/.test(first)) return goOn(items, rest)
    if (first === 'first' || first === 'last') return goOn(items, rest)
    return listMembers.has(first) ? rest.length === 0 : goOn(items, path)
  }
  const properties = (at.properties ?? {}) as JsonSchema
  const isPlain = at.type !== undefined && !types.includes('object')
  // Computed, or each item of a list.
  if (first === null) return !isPlain
  if (Object.hasOwn(properties, first)) return goOn(properties[first], rest)
  if (at.patternProperties !== undefined) return true
  if (types.includes('string') && first === 'size') return rest.length === 0
  if (isPlain || at.additionalProperties === false) return false
  // A schema that names properties and says nothing about others allows only those.
  if (at.additionalProperties === undefined) return Object.keys(properties).length === 0 && branches.length === 0
  return goOn(at.additionalProperties, rest)
}

function targetOf(root: JsonSchema, ref: string): unknown {
  try {
    return resolve(root, ref).schema
  } catch (error) {
    if (error instanceof SchemaError) return undefined
    throw error
  }
}
