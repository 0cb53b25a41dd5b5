// Novu from files of mongoexport: one file per collection, a document a line, or a list of them.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { Failure } from '../../failure.ts'
import { givenId } from '../identifier.ts'
import type { Intake } from '../intake.ts'
import { parsed } from '../json-lines.ts'
import { isJson, type Json, Members } from '../members.ts'
import type { Report } from '../report.ts'
import { jsonIn, textLinesOf, textOf } from '../source-file.ts'
import {
  choicesOfSubscriptions,
  type Ids,
  takeMessage,
  takeStoredPreference,
  takeSubscriber,
  takeSubscription,
} from './data.ts'
import type { OneEnvironment } from './environment.ts'
import { takeContext, takeIntegration, takeLayout, takeTenant, takeTopic, takeVariable } from './settings.ts'
import { takeTemplate, takeWorkflow } from './workflows.ts'

/** The collections that are read; others are listed. */
const collections = [
  ...[
    'notificationtemplates',
    'messagetemplates',
    'controls',
    'layouts',
    'localizationgroups',
    'localizations',
    'translations',
    'integrations',
  ],
  ...[
    'environmentvariables',
    'tenants',
    'contexts',
    'subscribers',
    'preferences',
    'topics',
    'topicsubscribers',
    'messages',
  ],
] as const
type Collection = (typeof collections)[number]

/** Extended JSON: `{"$oid": …}`, `{"$date": …}`, `{"$numberInt": …}`. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!isJson(value)) return value
  if (typeof value.$oid === 'string') return value.$oid
  if ('$date' in value) {
    const given = isJson(value.$date) ? Number(value.$date.$numberLong) : value.$date
    return new Date(given as string | number).toISOString()
  }
  for (const name of ['$numberInt', '$numberLong', '$numberDouble', '$numberDecimal'])
    if (name in value) return Number(value[name])
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

export async function readMongo(intake: Intake, folder: string, environment: OneEnvironment): Promise<void> {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json') || file.endsWith('.jsonl'))
  const nameOf = (file: string) => file.replace(/\.jsonl?$/, '').toLowerCase()
  const byName = new Map(files.map((file) => [nameOf(file), path.join(folder, file)]))
  if (!collections.some((name) => byName.has(name)))
    throw new Failure('usage', 'no_files', `${folder} has no file of mongoexport, such as subscribers.json`)
  for (const [name, file] of byName)
    if (!collections.some((known) => known === name))
      intake.report.unmapped({
        kind: 'file',
        id: path.basename(file),
        path: '',
        code: 'no_equivalent',
        why: 'nothing is read from this collection',
      })
  async function* documents(name: Collection): AsyncGenerator<Json> {
    const file = byName.get(name)
    if (file === undefined) return
    environment.begin(path.basename(file))
    for await (const document of read(file, intake)) if (environment.has(document, path.basename(file))) yield document
  }
  const all = async (name: Collection, isWanted: (document: Json) => boolean = () => true) => {
    const found: Json[] = []
    for await (const document of kept(name)) if (isWanted(document)) found.push(document)
    return found
  }
  /** Those that somebody deleted stay there, and are counted. */
  async function* kept(name: Collection): AsyncGenerator<Json> {
    let count = 0
    for await (const document of documents(name)) {
      if (document.deleted === true) count += 1
      else yield document
    }
    leftOut(name, 'deleted', `${count} deleted`, count, 'what was deleted there does not come along')
  }
  const leftOut = (name: Collection, at: string, from: string, count: number, why: string) => {
    const id = path.basename(byName.get(name) ?? '')
    if (count > 0) intake.report.changed({ kind: 'file', id, path: at, from, to: null, why })
  }
  const ids: Ids = { subscribers: new Map(), workflows: new Map(), integrations: new Map() }
  const controls = new Used(await all('controls'), ['_stepId', '_layoutId'])
  for (const each of controls.all) checkControls(intake.report, each)
  const layouts = await all('layouts')
  takeLayouts(intake, layouts, controls)
  const messages = new Used(await all('messagetemplates'), ['_id'])
  // Those of people are many, and are read one by one.
  const chosen = await all('preferences', (each) => !isOfSubscriber(each) && !isOfSubscription(each))
  for (const each of chosen) checkPreference(intake.report, each)
  const ofWorkflows = new Used(chosen, ['_templateId'])
  const templates = await all('notificationtemplates')
  takeWorkflows(intake, templates, { messages, preferences: ofWorkflows, controls, layouts, ids })
  for (const [name, { unused }] of [
    ['controls', controls] as const,
    ['messagetemplates', messages] as const,
    ['preferences', ofWorkflows] as const,
  ])
    leftOut(name, '_id', `${unused} that nothing refers to`, unused, 'no workflow or layout in the export has it')
  for await (const each of kept('integrations')) takeIntegration(intake, each, ids)
  const groups = await all('localizationgroups')
  takeTexts(intake, [...(await all('localizations')), ...(await all('translations'))], groups)
  for await (const each of kept('tenants')) takeTenant(intake, each)
  for await (const each of kept('contexts')) takeContext(intake, each)
  for await (const each of kept('subscribers')) takeSubscriber(intake, each, ids)
  for await (const each of kept('preferences')) if (isOfSubscriber(each)) takeStoredPreference(intake, each, ids)
  const topics = await all('topics')
  for (const topic of topics) takeTopic(intake, topic)
  const names = new Map(topics.map((topic) => [topic.key, topic.name]))
  const choices = choicesOfSubscriptions(intake, ids)
  for await (const each of kept('preferences')) if (isOfSubscription(each)) choices.add(each)
  for await (const each of kept('topicsubscribers')) {
    const name = names.get(each.topicKey)
    takeSubscription(
      intake,
      { ...each, preferences: choices.take(givenId(each._id)) },
      {
        topicKey: each.topicKey,
        topicName: typeof name === 'string' ? name : undefined,
        subscriberId: each.externalSubscriberId ?? ids.subscribers.get(String(each._subscriberId)),
      },
    )
  }
  choices.end()
  let others = 0
  for await (const each of kept('messages')) {
    if (each.channel === 'in_app') takeMessage(intake, each, ids)
    else others += 1
  }
  leftOut('messages', 'channel', `${others} of other channels`, others, 'only the history of the inbox comes along')
  takeVariables(intake, await all('environmentvariables'), environment.id)
  environment.end(intake.report)
}

/** Each has values of all environments. If nothing else says which one is read, it is the only one that they have. */
function takeVariables(intake: Intake, variables: Json[], environmentId: string | undefined): void {
  const named = variables.flatMap(({ values }) => (Array.isArray(values) ? values.filter(isJson) : []))
  const [first, ...others] = new Set(named.map(({ _environmentId }) => _environmentId))
  const only = typeof first === 'string' && others.length === 0 ? first : undefined
  for (const variable of variables) takeVariable(intake, variable, environmentId ?? only)
}

const isOfSubscriber = ({ type }: Json) => String(type).startsWith('SUBSCRIBER_')
/** It holds for what comes by one subscription to a topic, not for the whole workflow. */
const isOfSubscription = ({ type }: Json) => String(type).startsWith('SUBSCRIPTION_')

async function* read(file: string, intake: Intake): AsyncGenerator<Json> {
  const list = (at: string) =>
    intake.report.unmapped({
      ...{ kind: 'file', id: path.basename(file), path: at, code: 'not_readable' },
      why: 'it is no JSON object',
    })
  if ((await firstSign(file)) === '[') {
    for (const [index, value] of (jsonIn(file) as unknown[]).entries()) {
      const document = documentIn(value)
      if (document) yield document
      else list(`item ${index + 1}`)
    }
    return
  }
  for await (const { line, place } of textLinesOf(file)) {
    if (line.trim() === '') continue
    const document = documentIn(parsed(line))
    if (document) yield document
    else list(`line ${place}`)
  }
}

function documentIn(value: unknown): Json | undefined {
  try {
    const document = plain(value)
    return isJson(document) ? document : undefined
  } catch {
    // A date that is none.
    return undefined
  }
}

/** Without reading the whole file, which may be large. */
async function firstSign(file: string): Promise<string> {
  for await (const text of textOf(file)) return text.trimStart().slice(0, 1)
  return ''
}

/** Documents that others refer to, and how many of them nothing did. */
class Used {
  readonly all: Json[]
  readonly #byOwner = new Map<unknown, Json[]>()
  readonly #used = new Set<Json>()

  /** @param owners the members with ids that others ask for */
  constructor(all: Json[], owners: string[]) {
    this.all = all
    for (const document of all)
      for (const name of owners)
        if (document[name] !== undefined)
          this.#byOwner.set(document[name], [...(this.#byOwner.get(document[name]) ?? []), document])
  }

  /** The first document of any of these owners. */
  of(owners: unknown[], isWanted: (document: Json) => boolean = () => true): Json | undefined {
    const found = owners.flatMap((owner) => this.#byOwner.get(owner) ?? []).find(isWanted)
    if (found) this.#used.add(found)
    return found
  }

  get unused(): number {
    return this.all.length - this.#used.size
  }
}

function checkControls(report: Report, document: Json): void {
  const kind = document._layoutId === undefined ? 'workflow' : 'layout'
  const members = new Members(document, { report, kind, id: String(document._id), path: 'controls' })
  members.renewed([...ofTexts, '_workflowId', '_stepId', '_layoutId', 'level', 'priority', 'deletedAt', 'deletedBy'])
  members.take('controls')
  members.end()
}

function checkPreference(report: Report, document: Json): void {
  const members = new Members(document, {
    report,
    kind: 'workflow',
    id: String(document._templateId),
    path: 'preferences',
  })
  members.renewed([...ofTexts, '_templateId', '_userId', 'type', 'level', 'deletedAt', 'deletedBy'])
  members.take('preferences')
  members.end()
}

function takeLayouts(intake: Intake, layouts: Json[], controls: Used): void {
  for (const layout of layouts) {
    const own = controls.of([layout._id])
    takeLayout(intake, { ...layout, ...(isJson(own?.controls) ? { controlValues: own.controls } : {}) })
  }
}

interface Reading {
  messages: Used
  preferences: Used
  controls: Used
  layouts: Json[]
  ids: Ids
}

function takeWorkflows(
  intake: Intake,
  templates: Json[],
  { messages, preferences, controls, layouts, ids }: Reading,
): void {
  for (const template of templates) {
    const [trigger] = Array.isArray(template.triggers) ? template.triggers.filter(isJson) : []
    const workflowId = String(trigger?.identifier ?? template._id)
    ids.workflows.set(String(template._id), workflowId)
    const steps = Array.isArray(template.steps) ? template.steps.filter(isJson) : []
    const contentOf = (step: Json): Json => ({
      ...step,
      template: messages.of([step._templateId]) ?? step.template,
    })
    const withContent = steps.map(
      (step): Json => ({
        ...contentOf(step),
        ...(Array.isArray(step.variants) ? { variants: step.variants.filter(isJson).map(contentOf) } : {}),
      }),
    )
    if (String(template.origin) === 'external') {
      intake.report.unmapped({
        ...{ kind: 'workflow', id: workflowId, path: '', code: 'code_first' },
        why: 'code declares it; point its bridge here, and sync it',
      })
      continue
    }
    if (!/^(?:novu|svc)-cloud$/.test(String(template.origin))) {
      const layoutOf = (id: string) => {
        const layout = layouts.find((each) => each._id === id || each.identifier === id)
        return typeof layout?.identifier === 'string' ? layout.identifier : undefined
      }
      takeTemplate(intake, { ...template, steps: withContent }, { layoutOf })
      continue
    }
    const preferencesOf = (type: string) => preferences.of([template._id], (each) => each.type === type)?.preferences
    takeWorkflow(intake, {
      ...withoutOld(intake.report, template, workflowId),
      workflowId,
      preferences: { default: preferencesOf('WORKFLOW_RESOURCE'), user: preferencesOf('USER_WORKFLOW') },
      steps: withContent.map((step) => ({
        ...withoutOld(intake.report, step, workflowId, `steps.${String(step.stepId)}`),
        type: isJson(step.template) ? step.template.type : step.type,
        controlValues: controls.of([step._id, step._templateId])?.controls ?? {},
      })),
    })
  }
}

/** Of version 1: empty or repeated in documents of version 2. */
const ofVersion1 = ['triggers', 'template', '_templateId', 'preferenceSettings', 'critical', 'isBlueprint', 'deleted']

function withoutOld(report: Report, document: Json, id: string, path?: string): Json {
  const members = new Members(document, { report, kind: 'workflow', id, ...(path === undefined ? {} : { path }) })
  members.renewed([...ofVersion1, 'metadata', 'rawData'], 'it is of version 1; version 2 has its content in controls')
  members.unmapped('data', 'no_equivalent', 'a workflow has no data of its own here')
  return Object.fromEntries(members.rest().map((name) => [name, members.take(name)]))
}

const ofTexts = ['_id', '_organizationId', '_environmentId', '_parentId', '__v', 'createdAt', 'updatedAt', 'deleted']

/** Texts by locale, of workflows and layouts. Newer documents say in their group what they belong to. */
function takeTexts(intake: Intake, documents: Json[], groups: Json[]): void {
  const { report } = intake
  const owners = new Map<unknown, { type: string | undefined; id: string | undefined }>()
  for (const group of groups) {
    const members = new Members(group, { report, kind: 'translation', id: String(group.resourceId ?? group._id) })
    owners.set(group._id, { type: members.text('resourceType'), id: members.text('resourceId') })
    members.renewed([...ofTexts, '_resourceInternalId', 'resourceName'])
    members.end()
  }
  const byLocale = new Map<string, { workflows: Json; layouts: Json }>()
  for (const document of documents) {
    const members = new Members(document, { report, kind: 'translation', id: String(document._id) })
    members.renewed(ofTexts)
    const group = owners.get(members.take('_localizationGroupId'))
    const locale = members.text('locale')
    const resourceId = members.text('resourceId') ?? group?.id
    const type = members.text('resourceType') ?? group?.type
    const content = textsIn(members)
    members.end()
    if (locale === undefined || resourceId === undefined || content === undefined) {
      report.unmapped({
        ...{ kind: 'translation', id: members.id, path: '', code: 'no_equivalent' },
        why: 'it has no locale, resource or content',
      })
      continue
    }
    const texts = byLocale.get(locale) ?? { workflows: {}, layouts: {} }
    byLocale.set(locale, texts)
    texts[type === 'layout' ? 'layouts' : 'workflows'][resourceId] = content
  }
  for (const [locale, { workflows, layouts }] of byLocale)
    intake.define('translation', locale, {
      ...(Object.keys(workflows).length > 0 ? { workflows } : {}),
      ...(Object.keys(layouts).length > 0 ? { layouts } : {}),
    })
}

/** An object, or its JSON. */
function textsIn(members: Members): Json | undefined {
  const given = members.take('content')
  if (isJson(given)) return given
  try {
    const value: unknown = JSON.parse(String(given))
    return isJson(value) ? value : undefined
  } catch {
    return undefined
  }
}
