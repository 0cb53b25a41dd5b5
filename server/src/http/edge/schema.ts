// The building blocks of request and response schemas that several resources share.
import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { idPattern } from '../../db/core/ids.ts'
import { errorTable } from '../../errors.ts'

/** Messages that replace the default ones for this property, by JSON Schema keyword. */
export type Texts = Partial<
  Record<
    'required' | 'minLength' | 'maxLength' | 'pattern' | 'minItems' | 'maxItems' | 'format' | 'enum' | 'type',
    string
  >
>

/** Reports violations (of these keywords, or of all) per field, under the name of a command. */
export interface PerField {
  command: string
  rules?: string[]
  /** The prefix of each field name, as in `workflowDto.name`. */
  under?: string
}

/** A request body; unknown members are dropped. */
export const Body = <T extends TProperties>(properties: T, options: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

export const Enum = <const T extends string>(values: readonly T[], options: object = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })

export const Nullable = <T extends TSchema & { type: string }>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] })

export const Timestamp = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })
export const NullableTimestamp = Type.Unsafe<Date | null>({ type: ['string', 'null'], format: 'date-time' })
export const FreeObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })
export const Id = Type.String({ pattern: idPattern, texts: { pattern: 'must be a mongodb id' } })
export const Channel = Enum(['in_app', 'email', 'sms', 'chat', 'push'])
export type Channel = Static<typeof Channel>
export const Empty = Type.Null({ description: 'No content' })

/** Long enough for any sensible identifier, short enough for an index entry. */
export const Identifier = (options: object = {}) => Type.String({ minLength: 1, maxLength: 255, ...options })

/** Maps context types to an id, or to `{id, data}`. The contents are checked when the contexts are resolved. */
export const ContextPayload = (options: object = {}) =>
  Type.Unsafe<Record<string, unknown>>({
    ...FreeObject,
    texts: { type: errorTable.invalid_context.message() },
    ...options,
  })

/** A string or an object. Unlike a union, one schema of two types reports problems inside, and drops unknown members once. */
export const StringOr = <T extends object>(object: { properties: object; required: string[]; texts: Texts }) =>
  Type.Unsafe<string | T>({ type: ['string', 'object'], minLength: 1, additionalProperties: false, ...object })

/** Repeated (`a=1&a=2`) or given once. */
export const QueryList = Type.Array(Type.String())
export const ContextKeys = Type.Array(Type.String(), {
  description:
    'Only items with exactly these contexts, each `type:id`, in any order; one empty value: only items without a context',
})

/** A limit below 1 is a per-field error of `command` everywhere; above 100 it is one on some lists. */
export const cursorQuery = (command: string, rules: string[] = ['minimum']) => ({
  after: Type.Optional(Type.String({ description: 'Cursor: the items after this one' })),
  before: Type.Optional(Type.String({ description: 'Cursor: the items before this one' })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 10, zeroIsAbsent: true, perField: { command, rules } }),
  ),
  orderDirection: Type.Optional(Type.String({ description: 'ASC or DESC', default: 'DESC' })),
  orderBy: Type.Optional(Type.String({ description: 'Field to order by; an unknown one means the default' })),
  includeCursor: Type.Optional(Type.Boolean({ description: 'Include the cursor item in the page' })),
})

export const CursorPage = <T extends TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    next: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    previous: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    totalCount: Type.Integer(),
    totalCountCapped: Type.Boolean(),
  })

/** Page numbers, from 0. */
export const numberedQuery = (mostPerPage = 100) => ({
  page: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000, default: 0 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostPerPage, default: 10, zeroIsAbsent: true })),
})

export const NumberedPage = <T extends TSchema>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    hasMore: Type.Boolean(),
    totalCount: Type.Optional(Type.Integer()),
  })
