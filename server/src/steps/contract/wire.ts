// What answers say of the kinds that public clients do not know. A client whose list of types is closed reads them as custom
// steps, whose values it sends back as they are.
import type { JsonSchema } from '../json-schema/run.ts'
import { type ControlValues, extensionKinds, isExtension, objectSchema } from './kind.ts'

/** The brand whose public clients accept the ten types only. */
const closedBrand = 'novu'
const isHidden = (type: string, brand: string): boolean => brand === closedBrand && isExtension(type)

/** @param brand its word */
export const wireType = (type: string, brand: string): string => (isHidden(type, brand) ? 'custom' : type)

/** Beside the type, so that it is known under every brand. */
export const wireKind = (type: string): { kind?: string } => (isExtension(type) ? { kind: type } : {})

export const wireValues = (type: string, values: ControlValues, brand: string): ControlValues =>
  isHidden(type, brand) ? { custom: { $kind: type, ...values } } : values

/** The schema of those values. */
export const wireSchema = (type: string, schema: JsonSchema, brand: string): JsonSchema =>
  isHidden(type, brand) ? objectSchema({ custom: schema }, ['custom']) : schema

/** Types as a list of them says it: each once. */
export const wireTypes = (types: readonly string[], brand: string): string[] => [
  ...new Set(types.map((type) => wireType(type, brand))),
]

/** The kind and values that a custom step stands for; undefined if it is only a custom step. */
export function unwrapped(values: unknown): { kind: unknown; values: ControlValues } | undefined {
  const custom = (values as { custom?: unknown } | null | undefined)?.custom
  if (typeof custom !== 'object' || custom === null || !Object.hasOwn(custom, '$kind')) return undefined
  const { $kind: kind, ...rest } = custom as ControlValues
  return { kind, values: rest }
}

export const kindsInWords = extensionKinds.join(', ')
