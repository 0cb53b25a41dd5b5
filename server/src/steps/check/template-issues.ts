// The issues of a template, given the variables it can use.
import type { Analysis, FilterArgument, TemplateFilter, TemplateVariable } from '../../render/analyse.ts'
import { noTranslations, type Translator, translationProblem } from '../../render/translations.ts'
import type { JsonSchema } from '../json-schema/run.ts'
import { allows } from './variables.ts'

export interface TemplateIssue {
  issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE' | 'INVALID_FILTER_ARG_IN_VARIABLE' | 'MISSING_VALUE'
  variableName: string
  message: string
}

const illegal = (variableName: string, message: string): TemplateIssue => ({
  issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE',
  variableName,
  message,
})

interface Known {
  /** The variables that the template can use. */
  variables: JsonSchema
  /** The payload schema, in which references in `variables` resolve. */
  references: JsonSchema | null
  /** The texts in the default locale; undefined if they are not known here. */
  translator: Translator | undefined
}

export function templateIssues(
  { variables, filters, keys, lists, problems }: Analysis,
  { variables: schema, references, translator }: Known,
): TemplateIssue[] {
  return [
    ...problems.map(({ text, message, isMissing }): TemplateIssue => {
      const issue = illegal(text === '' ? '{{}}' : text, message)
      return isMissing ? { ...issue, issueType: 'MISSING_VALUE', variableName: 'each' } : issue
    }),
    ...variables.flatMap((variable) => variableIssue(variable, schema, references) ?? []),
    ...lists.flatMap(({ segments, text }) => {
      // A list that does not exist has an issue already.
      if (!allows(schema, segments, references) || allows(schema, [...segments, null], references)) return []
      return [illegal(text, `Repeat needs a list, but "${text}" is not one`)]
    }),
    ...keys.flatMap((key) => {
      if (translator === noTranslations) return [illegal(`t.${key}`, `Turn on translation to use "t.${key}"`)]
      const message = translator && translationProblem(key, translator)
      return message === undefined ? [] : [illegal(`t.${key}`, message)]
    }),
    ...filters.flatMap((filter) => filterIssue(filter) ?? []),
  ]
}

function variableIssue(
  { segments, text }: TemplateVariable,
  schema: JsonSchema,
  references: JsonSchema | null,
): TemplateIssue | undefined {
  const [root, ...rest] = segments
  if (rest.length === 0 && isLink(root, schema)) return undefined
  if (rest.length === 0) return illegal(text, `Variable "${text}" invalid or missing namespace`)
  if (typeof root === 'string' && root.toLowerCase() === 't') return undefined
  return allows(schema, segments, references) ? undefined : illegal(text, `Variable "${text}" is not supported`)
}

/** A text that stands alone, without a namespace. */
const isLink = (root: unknown, { properties = {} }: JsonSchema): boolean =>
  typeof root === 'string' && (properties as Record<string, JsonSchema>)[root]?.type === 'string'

function filterIssue({ name, isKnown, args, input }: TemplateFilter): TemplateIssue | undefined {
  const variableName = input ?? name
  if (!isKnown) return illegal(variableName, `Filter "${name}" is not supported`)
  const message = name === 'toSentence' ? wrongSentence(args, input) : undefined
  return message === undefined ? undefined : { issueType: 'INVALID_FILTER_ARG_IN_VARIABLE', variableName, message }
}

/** toSentence: key path, limit, suffix, separator, separator of two, separator of the last. */
function wrongSentence(args: FilterArgument[], input: string | undefined): string | undefined {
  const [keyPath, limit, ...texts] = args
  const ofEvents = /^steps\..+\.events$/.test(input ?? '')
  if (ofEvents && (keyPath === undefined || (keyPath.kind === 'text' && keyPath.value.trim() === '')))
    return 'The filter "toSentence" needs the path of a value in each event as its first argument, such as "payload.name"'
  if (keyPath !== undefined && !isKind(keyPath, 'text')) return 'The first argument of "toSentence" must be a string'
  if (limit !== undefined && !isKind(limit, 'number')) return 'The second argument of "toSentence" must be a number'
  return texts.every((argument) => isKind(argument, 'text'))
    ? undefined
    : 'The suffix and the separators of "toSentence" must be strings'
}

/** The type of a variable is known only when it is rendered. */
const isKind = (argument: FilterArgument, kind: 'text' | 'number') =>
  argument.kind === kind || argument.kind === 'variable'
