// `types`: one TypeScript interface per payload schema, so that the compiler checks what is triggered.

import type { Context } from '../context.ts'
import { checkFolder } from '../folder/check.ts'
import { isObject, readFolder } from '../folder/read.ts'
import { writeOutput } from '../folder/write.ts'
import { readDefinitions } from '../remote.ts'
import { counted } from '../words.ts'
import { refuseErrors } from './push.ts'

type Schema = Record<string, unknown>

interface Workflow {
  workflowId: string
  payloadSchema: Schema | undefined
}

export async function types(
  context: Context,
  { out, remote = false }: { out?: string; remote?: boolean },
): Promise<void> {
  const workflows = remote ? await remoteWorkflows(context) : localWorkflows(context)
  const text = typesOf(workflows)
  const { terminal } = context
  if (out !== undefined) {
    writeOutput(out, text)
    terminal.say(`${counted(workflows.length, 'workflow')} in ${out}`)
  }
  const told = out === undefined ? { workflows: workflows.length, text } : { workflows: workflows.length, out }
  if (terminal.isJson || out === undefined) terminal.result(told, () => text)
}

const workflowIn = (definition: Record<string, unknown>): Workflow => ({
  workflowId: String(definition.workflowId),
  payloadSchema: isObject(definition.payloadSchema) ? definition.payloadSchema : undefined,
})

async function remoteWorkflows(context: Context): Promise<Workflow[]> {
  const { resources } = await readDefinitions(context.service(), ['workflows'])
  return resources.map(({ definition }) => workflowIn(definition))
}

/** Refuses files with errors: a workflow that cannot be read would be missing, as if it had gone. */
function localWorkflows({ dir, terminal }: Context): Workflow[] {
  const { problems, normal } = checkFolder(readFolder(dir))
  const errors = problems.filter(({ severity }) => severity === 'error')
  refuseErrors(terminal, errors, 'no types were written')
  return [...normal]
    .filter(([key]) => key.startsWith('workflow '))
    .map(([, { definition }]) => workflowIn(definition))
    .sort((a, b) => (a.workflowId < b.workflowId ? -1 : 1))
}

export function typesOf(workflows: readonly Workflow[]): string {
  const names = new Map<string, number>()
  const named = workflows.map(({ workflowId, payloadSchema = {} }) => {
    const plain = `${pascal(workflowId)}Payload`
    const count = (names.get(plain) ?? 0) + 1
    names.set(plain, count)
    return { workflowId, name: count === 1 ? plain : `${plain}${count}`, schema: payloadSchema }
  })
  const declared = named.map(({ name, schema, workflowId }) => {
    const type = typeOf(schema, schema, 0, [])
    const comment = `/** The payload of "${workflowId.replaceAll('*/', '* /')}". */\n`
    return type.startsWith('{') && !isUnion(schema)
      ? `${comment}export interface ${name} ${type}\n`
      : `${comment}export type ${name} = ${type}\n`
  })
  const list = named.map(({ workflowId, name }) => `  ${JSON.stringify(workflowId)}: ${name}\n`)
  return [
    '// Made by "belfry types". Do not edit.\n',
    ...declared,
    `/** Payloads by workflowId. */\nexport interface Payloads {\n${list.join('')}}\n`,
  ].join('\n')
}

const isUnion = ({ anyOf, oneOf, allOf, type }: Schema) => Boolean(anyOf || oneOf || allOf || Array.isArray(type))

const pascal = (id: string): string => {
  const name = id.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase())
  const known = name.replaceAll(/[^A-Za-z0-9]/g, '')
  return /^[A-Za-z]/.test(known) ? known : `Workflow${known}`
}

const deepest = 20

/** `seen` are the references on the way here: a schema that contains itself ends in `unknown`. */
function typeOf(schema: unknown, root: Schema, depth: number, seen: readonly string[]): string {
  if (!isObject(schema) || depth > deepest) return 'unknown'
  const inner = (each: unknown) => typeOf(each, root, depth + 1, seen)
  if (typeof schema.$ref === 'string') {
    const { $ref } = schema
    return seen.includes($ref) ? 'unknown' : typeOf(resolve(root, $ref), root, depth + 1, [...seen, $ref])
  }
  if (Object.hasOwn(schema, 'const')) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return union(schema.enum.map((value) => JSON.stringify(value)))
  for (const word of ['anyOf', 'oneOf'] as const) if (Array.isArray(schema[word])) return union(schema[word].map(inner))
  if (Array.isArray(schema.allOf)) return schema.allOf.map((each) => grouped(inner(each))).join(' & ') || 'unknown'
  const given = Array.isArray(schema.type) ? schema.type : [schema.type]
  return union(given.map((type) => typeNamed(type, schema, root, depth, seen)))
}

function typeNamed(type: unknown, schema: Schema, root: Schema, depth: number, seen: readonly string[]): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return arrayOf(schema, root, depth, seen)
    case 'object':
      return objectOf(schema, root, depth, seen)
    default:
      return isObject(schema.properties) || (depth === 0 && Array.isArray(schema.required))
        ? objectOf(schema, root, depth, seen)
        : depth === 0
          ? 'Record<string, unknown>'
          : 'unknown'
  }
}

function arrayOf({ items }: Schema, root: Schema, depth: number, seen: readonly string[]): string {
  const each = (item: unknown) => typeOf(item, root, depth + 1, seen)
  return Array.isArray(items) ? `[${items.map(each).join(', ')}]` : `Array<${each(items)}>`
}

function objectOf(schema: Schema, root: Schema, depth: number, seen: readonly string[]): string {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const indent = '  '.repeat(depth + 1)
  const members = Object.entries(properties).map(([name, member]) => {
    const comment =
      isObject(member) && typeof member.description === 'string'
        ? `${indent}/** ${member.description.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */\n`
        : ''
    return `${comment}${indent}${keyNamed(name)}${required.has(name) ? '' : '?'}: ${typeOf(member, root, depth + 1, seen)}\n`
  })
  const { additionalProperties: more } = schema
  const hasNone = members.length === 0
  const rest = isObject(more) && hasNone ? typeOf(more, root, depth + 1, seen) : 'unknown'
  for (const name of required)
    if (typeof name === 'string' && !Object.hasOwn(properties, name))
      members.push(`${indent}${keyNamed(name)}: ${rest}\n`)
  if (members.length === 0) return more === false ? 'Record<string, never>' : `Record<string, ${rest}>`
  // Absent means allowed, but then a misspelled name would be no mistake.
  if (more === true || isObject(more) || (hasNone && more === undefined))
    members.push(`${indent}[member: string]: ${rest}\n`)
  return `{\n${members.join('')}${'  '.repeat(depth)}}`
}

const keyNamed = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

function resolve(root: Schema, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined
  let found: unknown = root
  for (const part of reference.slice(1).split('/').slice(1))
    found = isObject(found) ? found[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  return found
}

const grouped = (type: string) => (type.includes(' | ') ? `(${type})` : type)
const union = (types: string[]) => [...new Set(types)].join(' | ') || 'never'
