// The steps of a workflow together: the variables each can use, its issues, and the workflow's status.
import type { WorkflowRow, WorkflowStep } from '../../db/queries/workflows.ts'
import { Cache } from '../../render/cache.ts'
import { noTranslations, type TranslationContent, type Translator, translatorFor } from '../../render/translations.ts'
import type { StepKind, StepType } from '../contract/kind.ts'
import { allSteps, placesOf } from '../contract/tree.ts'
import type { JsonSchema } from '../json-schema/run.ts'
import { stepKinds } from '../kinds/index.ts'
import { type ControlIssues, controlIssues } from './issues.ts'
import { conditionsIn, type Path, pathsIn, stepTemplates } from './templates.ts'
import { stepVariables } from './variables.ts'

type Steps = Pick<WorkflowRow, 'steps' | 'payload_schema'> & Partial<Pick<WorkflowRow, 'critical'>>

/** Everything that a workflow's templates and conditions read. */
export const usedPaths = ({ steps }: Pick<Steps, 'steps'>): Path[] =>
  allSteps(steps).flatMap(({ type, controlValues }) => {
    const values = controlValues ?? {}
    const kind = kindOf(type)
    return pathsIn(stepTemplates(values, kind), ...conditionsIn(values, kind).map(({ rule }) => rule))
  })

const kindOf = (type: string): StepKind | undefined => stepKinds[type as StepType]

/** By the ids of the steps, those in arms included. */
export type OfSteps<T> = ReadonlyMap<string, T>

/** The variables each step can use. */
export function variablesOfSteps(workflow: Steps, envKeys: readonly string[]): OfSteps<JsonSchema> {
  const { steps, payload_schema: payloadSchema, critical } = workflow
  const used = usedPaths(workflow)
  return new Map(
    placesOf(steps).map(({ step, earlier }) => {
      // Nobody can refuse what is critical.
      const links = critical ? [] : (kindOf(step.type)?.links ?? [])
      return [step._id, stepVariables({ previous: earlier, payloadSchema, used, envKeys, links })]
    }),
  )
}

// About 1,500 workflows.
const remembered = new Cache<OfSteps<ControlIssues>>(256 * 1024)
type Version = Pick<WorkflowRow, 'id' | 'version' | 'origin' | 'is_translation_enabled'>

/** A workflow's texts in the default locale, which every key falls back to. */
export interface DefaultTexts {
  /** Changes with the texts. */
  revision: string
  defaultLocale: string
  content: TranslationContent
}

const keyOf = ({ id, version }: Version, { envKeys, rotas }: Around, revision = '') =>
  [id, version, revision, ...envKeys, '/', ...rotas].join(' ')

/** What an environment has that steps can name. */
export interface Around {
  envKeys: readonly string[]
  rotas: readonly string[]
}

/** The issues of each step's controls. Computed once per version of a workflow and of its texts. */
export function issuesOfSteps(workflow: Steps & Version, around: Around, texts?: DefaultTexts): OfSteps<ControlIssues> {
  return remembered.get(keyOf(workflow, around, texts?.revision), () =>
    findIssues(workflow, around, translatorOf(workflow, texts)),
  )
}

/** The same for a workflow without a version, such as a draft. */
export function findIssues(
  workflow: Steps,
  { envKeys, rotas }: Around,
  translator?: Translator,
): OfSteps<ControlIssues> {
  const { steps, payload_schema: payloadSchema } = workflow
  const variables = variablesOfSteps(workflow, envKeys)
  return new Map(
    placesOf(steps).map(({ step, earlier }) => [
      step._id,
      {
        ...controlIssues(step, variables.get(step._id) ?? {}, payloadSchema, translator),
        ...messageIssues(step, earlier),
        ...rotaIssues(step, rotas),
      },
    ]),
  )
}

/** A step can only be about messages of steps before it that send. */
function messageIssues({ type, controlValues }: WorkflowStep, earlier: readonly WorkflowStep[]): ControlIssues {
  const named = kindOf(type)?.messagesOf?.(controlValues ?? {}) ?? []
  const isThere = (stepId: string) =>
    earlier.some(
      ({ stepId: of, type: kind }) => of === stepId && (kind === 'ask' || kindOf(kind)?.channel !== undefined),
    )
  return Object.fromEntries(
    named
      .filter(({ stepId }) => !isThere(stepId))
      .map(({ path, stepId }) => [
        path,
        [
          {
            ...{ issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE' as const, variableName: stepId },
            message: `There is no step "${stepId}" before this one that sends a message`,
          },
        ],
      ]),
  )
}

/** Whom a template names is known when it is rendered. */
function rotaIssues({ type, controlValues }: WorkflowStep, rotas: readonly string[]): ControlIssues {
  const chain = type === 'ask' && Array.isArray(controlValues?.chain) ? (controlValues.chain as unknown[]) : []
  return Object.fromEntries(
    chain.flatMap((level, index) => {
      const { rota } = (level ?? {}) as { rota?: unknown }
      if (typeof rota !== 'string' || rota === '' || rota.includes('{{') || rotas.includes(rota)) return []
      const message = `There is no rota "${rota}" in this environment`
      return [[`chain.${index}.rota`, [{ issueType: 'MISSING_VALUE' as const, message }]]]
    }),
  )
}

/** Code renders its own steps. */
function translatorOf(workflow: Version, texts: DefaultTexts | undefined): Translator | undefined {
  if (workflow.origin === 'external') return undefined
  if (!workflow.is_translation_enabled || !texts) return noTranslations
  const { defaultLocale, content } = texts
  return translatorFor({ defaultLocale, locales: { [defaultLocale]: content } }, defaultLocale)
}

/** The same if computed before: it needs no steps, which may be large. */
export const rememberedIssues = (
  version: Version,
  around: Around,
  revision: string | undefined,
): OfSteps<ControlIssues> | undefined => remembered.peek(keyOf(version, around, revision))

/**
 * Missing integrations do not count: they are not the workflow's fault. An error stops no trigger; only `active: false` does.
 */
export function statusOf(
  { active }: Pick<WorkflowRow, 'active'>,
  issues: OfSteps<ControlIssues>,
): 'ACTIVE' | 'INACTIVE' | 'ERROR' {
  if (!active) return 'INACTIVE'
  return [...issues.values()].some((step) => Object.keys(step).length > 0) ? 'ERROR' : 'ACTIVE'
}
