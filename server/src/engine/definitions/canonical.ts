// The canonical form of a definition in a file: the order of its members, and YAML that is always written the same way.
import { Document, isMap, isSeq, Scalar, visit } from 'yaml'
import type { DefinitionKind } from '../../db/core/tables.ts'
import type { StepType } from '../../steps/contract/kind.ts'
import { withLists } from '../../steps/contract/tree.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import type { Definition } from './workflow-definition.ts'

/** In the order of the API reference. Members that are not listed follow by code point. */
const memberOrder: Record<Exclude<DefinitionKind, 'translation'>, readonly string[]> = {
  workflow: [
    ...['workflowId', 'name', 'description', 'tags', 'active', 'validatePayload', 'payloadSchema'],
    ...['isTranslationEnabled', 'severity', 'messageClass', 'consentCategory', 'tracking', 'preferences', 'journey'],
    'steps',
  ],
  layout: ['layoutId', 'name', 'isDefault', 'isTranslationEnabled', 'controlValues'],
  topic: ['key', 'name', 'joinableFromBrowser'],
  integration: ['identifier', 'name', 'channel', 'providerId', 'active', 'primary', 'conditions', 'credentials'],
  variable: ['key', 'isSecret', 'value'],
}
const stepOrder = [
  ...['stepId', 'name', 'type', 'controlValues', 'active', 'shouldStopOnFail', 'onUnknown', 'replyCallback'],
  ...['filters', 'variants'],
]
const variantOrder = ['name', 'active', 'filters', 'controlValues']
/** What people look for first. */
const firstValues: Partial<Record<StepType, readonly string[]>> = { email: ['subject', 'editorType', 'body'] }

/** The same definition with its members in canonical order, for `yamlDocument`. */
export function ordered(kind: DefinitionKind, definition: Definition): Definition {
  // Texts stay in the order in which they were written.
  if (kind === 'translation') return definition
  const { payloadSchema, steps, ...rest } = definition
  const members: Definition = {
    ...membersSorted(rest),
    ...(payloadSchema === undefined ? {} : { payloadSchema }),
    ...(Array.isArray(steps) ? { steps: (steps as Definition[]).map(orderedStep) } : {}),
  }
  return inOrder(members, memberOrder[kind])
}

function orderedStep(step: Definition): Definition {
  const tree = withLists({ ...step, type: String(step.type) }, (steps) => steps.map((each) => orderedStep(each)))
  const { controlValues, variants, ...rest } = tree as Definition
  const members: Definition = {
    ...membersSorted(rest),
    ...(isObject(controlValues) ? { controlValues: orderedValues(step.type, controlValues) } : {}),
    ...(Array.isArray(variants)
      ? {
          variants: (variants as Definition[]).map((variant) => {
            const { controlValues: values, ...others } = variant
            const own = isObject(values) ? { controlValues: orderedValues(step.type, values) } : {}
            return inOrder({ ...membersSorted(others), ...own }, variantOrder)
          }),
        }
      : {}),
  }
  const done = inOrder(members, stepOrder)
  orderedSteps.add(done)
  return done
}

/** Steps in the arms of a branch, which have their order when the branch gets its own. */
const orderedSteps = new WeakSet<object>()

function orderedValues(type: unknown, values: Definition): Definition {
  const kind = stepKinds[type as StepType] as (typeof stepKinds)[StepType] | undefined
  const declared = Object.keys((kind?.dataSchema as { properties?: object } | undefined)?.properties ?? {})
  return inOrder(membersSorted(values), [...(firstValues[type as StepType] ?? []), ...declared])
}

const membersSorted = (members: Definition): Definition =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, sortedDeep(value)]))

function inOrder(members: Definition, order: readonly string[]): Definition {
  const names = Object.keys(members)
  const known = [...new Set(order)].filter((name) => Object.hasOwn(members, name))
  const others = names.filter((name) => !order.includes(name)).sort(byCodePoint)
  return inThisOrder([...known, ...others].map((name) => [name, members[name]]))
}

/** An object lists names that are whole numbers first, whatever the order in which it got them; a map does not, and YAML takes both. */
function inThisOrder(entries: Array<[string, unknown]>): Definition {
  const hasNumbers = entries.some(([name]) => /^\d+$/.test(name))
  return (hasNumbers ? new Map(entries) : Object.fromEntries(entries)) as Definition
}

/** By code point, all the way down; the steps of a branch have their own order. */
function sortedDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedDeep)
  if (!isObject(value)) return value
  if (orderedSteps.has(value)) return value
  return inThisOrder(
    Object.keys(value)
      .sort(byCodePoint)
      .map((name) => [name, sortedDeep(value[name])]),
  )
}

/** JavaScript compares UTF-16 units, which differ beyond the basic plane. */
function byCodePoint(a: string, b: string): number {
  const [left, right] = [[...a], [...b]]
  for (let i = 0; i < left.length && i < right.length; i += 1) {
    const difference = (left[i]?.codePointAt(0) ?? 0) - (right[i]?.codePointAt(0) ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

const isObject = (value: unknown): value is Definition =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Characters that a block of lines cannot hold as they are, or that editors change. */
const unprintable = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u
const endOfLineSpaces = /[ \t]\n|[ \t]$/

/** YAML 1.2, two spaces, block style, no folding; texts of several lines as blocks, quotes where a text could be something else. */
export function yamlDocument(value: unknown): Document {
  const document = new Document(value, { version: '1.2', compat: 'yaml-1.1', aliasDuplicateObjects: false })
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string') node.type = styleOf(node.value)
    },
    Collection(_, node) {
      // Without members there is nothing to put into lines.
      if ((isMap(node) || isSeq(node)) && node.items.length > 0) node.flow = false
    },
  })
  return document
}

function styleOf(text: string): Scalar.Type {
  if (unprintable.test(text)) return Scalar.QUOTE_DOUBLE
  if (!text.includes('\n')) return Scalar.PLAIN
  // Spaces at the end of a line get lost in editors; a block without any letter is hard to see.
  return endOfLineSpaces.test(text) || text.trim() === '' ? Scalar.QUOTE_DOUBLE : Scalar.BLOCK_LITERAL
}

export const writeYaml = (document: Document): string =>
  document.toString({ indent: 2, lineWidth: 0, minContentWidth: 0, singleQuote: false, flowCollectionPadding: true })

/** The whole definition in one text, bodies included. */
export const canonicalYaml = (kind: DefinitionKind, definition: Definition): string =>
  writeYaml(yamlDocument(ordered(kind, definition)))
