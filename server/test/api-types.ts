// Writes the API description as TypeScript types, for the browser programs, which know the service by nothing else.

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  $ref?: string
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  description?: string
}

interface Operation {
  summary: string
  parameters?: Array<{ name: string; in: string; required?: boolean; schema: Schema; description?: string }>
  requestBody?: { required?: boolean; content: Record<string, { schema?: Schema }> }
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>
}

export interface ApiDescription {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const heading = `// Made from server/openapi.json by \`npm run generate\`: every operation with what it takes and what it answers.
// Do not edit it; change the schema of the route.
`

export function apiTypes({ paths, components }: ApiDescription): string {
  const operations = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => describe(`${method.toUpperCase()} ${path}`, operation)),
    )
    .join('')
  const schemas = Object.entries(components.schemas)
    .filter(([name]) => operations.includes(`${name}Schema`))
    .map(([name, schema]) => `type ${name}Schema = ${typeOf(schema, '')}\n\n`)
    .join('')
  return `${heading}\n${schemas}export interface Operations {\n${operations}}\n`
}

function describe(name: string, { summary, parameters = [], requestBody, responses }: Operation): string {
  const named = (place: string) => {
    const those = parameters.filter((parameter) => parameter.in === place)
    if (those.length === 0) return []
    const required = those.filter(({ required }) => required).map(({ name }) => name)
    const properties = Object.fromEntries(
      those.map(({ name, schema, description }) => [name, description ? { ...schema, description } : schema]),
    )
    const type = typeOf({ type: 'object', additionalProperties: false, properties, required }, '    ')
    return [`    ${place}${required.length > 0 ? '' : '?'}: ${type}\n`]
  }
  const body = requestBody?.content['application/json']?.schema
  const bodyMember = requestBody ? [`    body: ${body ? typeOf(body, '    ') : 'FormData'}\n`] : []
  const answer = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => {
      const schema = content?.['application/json']?.schema
      return schema ? typeOf(schema, '    ') : 'undefined'
    })
  const members = [...named('path'), ...named('query'), ...bodyMember, `    answer: ${union(answer)}\n`]
  return `  /** ${summary} */\n  '${name}': {\n${members.join('')}  }\n`
}

/** @param indent of the line that contains the type */
function typeOf(schema: Schema, indent: string): string {
  const { $ref, type, anyOf, oneOf, allOf, items } = schema
  if ($ref) return `${$ref.slice($ref.lastIndexOf('/') + 1)}Schema`
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return union(schema.enum.map(literal))
  const choices = anyOf ?? oneOf
  if (choices) return union(choices.map((choice) => typeOf(choice, indent)))
  if (allOf) return allOf.map((part) => `(${typeOf(part, indent)})`).join(' & ')
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, indent)))
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `Array<${items ? typeOf(items, indent) : 'unknown'}>`
    case 'object':
      return objectType(schema, indent)
    default:
      return schema.properties ? objectType(schema, indent) : 'unknown'
  }
}

function objectType(schema: Schema, indent: string): string {
  const { properties = {}, patternProperties = {}, required = [], additionalProperties } = schema
  const inner = `${indent}  `
  const members = Object.entries(properties).map(([name, member]) => {
    const remark = member.description ? `${inner}/** ${member.description.replaceAll('*/', '* /')} */\n` : ''
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
    // JSON omits undefined, so optional members may be undefined.
    const [mark, orUndefined] = required.includes(name) ? ['', ''] : ['?', ' | undefined']
    return `${remark}${inner}${key}${mark}: ${typeOf(member, inner)}${orUndefined}\n`
  })
  const others = Object.values(patternProperties)[0] ?? additionalProperties
  if (members.length === 0) {
    if (others === false) return 'Record<string, never>'
    return `Record<string, ${typeof others === 'object' ? typeOf(others, indent) : 'unknown'}>`
  }
  const record = typeof others === 'object' ? typeOf(others, indent) : 'unknown'
  const open = others === true || typeof others === 'object' ? ` & Record<string, ${record}>` : ''
  return `{\n${members.join('')}${indent}}${open}`
}

const literal = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'` : JSON.stringify(value)

function union(types: string[]): string {
  const different = [...new Set(types)]
  return different.length === 0 ? 'undefined' : different.join(' | ')
}
