// `schema <kind>`, and `.schemas/` in the folder: JSON Schemas with which editors complete and check the files.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { shapes } from '../../../server/src/http/definitions/pushed.ts'
import { Failure } from '../failure.ts'
import { type Kind, kindNames, listFiles } from '../folder/layout.ts'
import { writeWhole } from '../folder/write.ts'

type Schema = Record<string, unknown>

const fileReference = {
  type: 'object',
  properties: { $file: { type: 'string', description: 'A file in the same folder' } },
  required: ['$file'],
  additionalProperties: false,
}

const settingsSchema: Schema = {
  type: 'object',
  properties: {
    format: { const: 1 },
    kinds: { type: 'array', items: { enum: Object.keys(kindNames) } },
    environments: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' }, url: { type: 'string' } } },
    },
    source: {
      type: 'object',
      properties: {
        repository: { type: 'string' },
        url: { type: 'string', description: 'The page of a commit, with {commit} in its place' },
      },
    },
  },
  additionalProperties: false,
}

/** By the name of its file in `.schemas`. */
export function allSchemas(): Map<string, Schema> {
  const schemas = new Map<string, Schema>([['belfry', settingsSchema]])
  for (const kind of Object.values(kindNames)) {
    const schema = plain(shapes[kind].schema) as Schema
    if (listFiles[kind]) schemas.set(`${kind}s`, { type: 'array', items: schema })
    else schemas.set(kind, kind === 'layout' ? withBodyFile(schema) : schema)
  }
  return schemas
}

/** Only what JSON Schema knows. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'texts' && name !== 'perField')
      .map(([name, member]) => [name, plain(member)]),
  )
}

function withBodyFile(schema: Schema): Schema {
  const text = JSON.stringify(schema)
  return JSON.parse(
    text.replace('"body":{"type":"string"}', `"body":{"anyOf":[{"type":"string"},${JSON.stringify(fileReference)}]}`),
  ) as Schema
}

const textOf = (schema: Schema) =>
  `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...schema }, null, 2)}\n`

export function writeSchemas(dir: string): void {
  for (const [name, schema] of allSchemas()) {
    const place = path.join(dir, '.schemas', `${name}.json`)
    const text = textOf(schema)
    if (!existsSync(place) || readFileSync(place, 'utf8') !== text) writeWhole(place, text)
  }
}

export function schema(kind: string): void {
  const schemas = allSchemas()
  const found = schemas.get(kind) ?? schemas.get(`${kind}s`)
  if (!found) {
    const names: Array<Kind | 'belfry'> = ['belfry', ...Object.values(kindNames)]
    throw new Failure('usage', 'unknown_kind', `There is no schema "${kind}"; use one of ${names.join(', ')}`)
  }
  process.stdout.write(textOf(found))
}
