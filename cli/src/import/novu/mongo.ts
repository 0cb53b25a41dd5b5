// Novu from files of mongoexport: one file per collection, a document a line, or a list of them.
import { closeSync, createReadStream, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Failure } from '../../failure.ts'
import type { Intake } from '../intake.ts'
import { isJson, type Json } from '../members.ts'
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
    for await (const document of documents(name)) if (isWanted(document)) found.push(document)
    return found
  }
  const ids: Ids = { subscribers: new Map(), workflows: new Map(), integrations: new Map() }
  const controls = await all('controls')
  const layouts = await all('layouts')
  takeLayouts(intake, layouts, controls)
  await takeWorkflows(intake, { all, controls, layouts, ids })
  for await (const each of documents('integrations')) if (each.deleted !== true) takeIntegration(intake, each, ids)
  takeTexts(intake, [...(await all('localizations')), ...(await all('translations'))])
  for await (const each of documents('tenants')) takeTenant(intake, each)
  for await (const each of documents('contexts')) takeContext(intake, each)
  for await (const each of documents('subscribers')) if (each.deleted !== true) takeSubscriber(intake, each, ids)
  for await (const each of documents('preferences')) if (isOfSubscriber(each)) takeStoredPreference(intake, each, ids)
  const topics = await all('topics')
  for (const topic of topics) takeTopic(intake, topic)
  const names = new Map(topics.map((topic) => [topic.key, topic.name]))
  const choices = choicesOfSubscriptions(intake, ids)
  for await (const each of documents('preferences')) if (isOfSubscription(each)) choices.add(each)
  for await (const each of documents('topicsubscribers')) {
    const name = names.get(each.topicKey)
    takeSubscription(
      intake,
      { ...each, preferences: choices.take(String(each._id)) },
      {
        topicKey: String(each.topicKey),
        topicName: typeof name === 'string' ? name : undefined,
        subscriberId: String(each.externalSubscriberId ?? ids.subscribers.get(String(each._subscriberId))),
      },
    )
  }
  choices.end()
  for await (const each of documents('messages'))
    if (each.channel === 'in_app' && each.deleted !== true) takeMessage(intake, each, ids)
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
  if (firstSign(file) === '[') {
    for (const value of JSON.parse(readFileSync(file, 'utf8')) as unknown[]) yield plain(value) as Json
    return
  }
  let place = 0
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    place += 1
    if (line.trim() === '') continue
    try {
      yield plain(JSON.parse(line)) as Json
    } catch {
      intake.report.unmapped({
        ...{ kind: 'file', id: path.basename(file), path: `line ${place}`, code: 'not_readable' },
        why: 'the line is not JSON',
      })
    }
  }
}

/** Without reading the whole file, which may be large. */
function firstSign(file: string): string {
  const opened = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(64)
    return bytes.subarray(0, readSync(opened, bytes)).toString().trimStart().slice(0, 1)
  } finally {
    closeSync(opened)
  }
}

function takeLayouts(intake: Intake, layouts: Json[], controls: Json[]): void {
  for (const layout of layouts) {
    if (layout.deleted === true) continue
    const own = controls.find((each) => each._layoutId === layout._id)
    takeLayout(intake, { ...layout, ...(isJson(own?.controls) ? { controlValues: own.controls } : {}) })
  }
}

interface Reading {
  all(name: Collection, isWanted?: (document: Json) => boolean): Promise<Json[]>
  controls: Json[]
  layouts: Json[]
  ids: Ids
}

async function takeWorkflows(intake: Intake, { all, controls, layouts, ids }: Reading): Promise<void> {
  const messages = new Map((await all('messagetemplates')).map((each) => [each._id, each]))
  // Those of people are many, and are read one by one.
  const preferences = await all('preferences', (each) => !isOfSubscriber(each) && !isOfSubscription(each))
  for (const template of await all('notificationtemplates')) {
    if (template.deleted === true) continue
    const [trigger] = Array.isArray(template.triggers) ? template.triggers.filter(isJson) : []
    const workflowId = String(trigger?.identifier ?? template._id)
    ids.workflows.set(String(template._id), workflowId)
    const steps = Array.isArray(template.steps) ? template.steps.filter(isJson) : []
    const withContent = steps.map(
      (step): Json => ({ ...step, template: messages.get(step._templateId) ?? step.template }),
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
    const preferencesOf = (type: string) =>
      preferences.find((each) => each._templateId === template._id && each.type === type)?.preferences
    takeWorkflow(intake, {
      ...withoutOld(template),
      workflowId,
      preferences: { default: preferencesOf('WORKFLOW_RESOURCE'), user: preferencesOf('USER_WORKFLOW') },
      steps: withContent.map((step) => ({
        ...withoutOld(step),
        type: isJson(step.template) ? step.template.type : step.type,
        controlValues:
          controls.find((each) => each._stepId === step._id || each._stepId === step._templateId)?.controls ?? {},
      })),
    })
  }
}

/** Of version 1, empty or repeated in documents of version 2. */
const withoutOld = ({
  triggers: _,
  template: _b,
  _templateId: _c,
  preferenceSettings: _d,
  critical: _e,
  ...rest
}: Json): Json => {
  const { isBlueprint: _f, deleted: _g, metadata: _h, rawData: _i, data: _j, ...kept } = rest
  return kept
}

/** Texts by locale, of workflows and layouts. */
function takeTexts(intake: Intake, documents: Json[]): void {
  const byLocale = new Map<string, { workflows: Json; layouts: Json }>()
  for (const document of documents) {
    const { locale, resourceId, resourceType, content } = document
    if (typeof locale !== 'string' || typeof resourceId !== 'string' || !isJson(content)) {
      intake.report.unmapped({
        ...{ kind: 'translation', id: String(document._id), path: '', code: 'no_equivalent' },
        why: 'it has no locale, resource or content',
      })
      continue
    }
    const texts = byLocale.get(locale) ?? { workflows: {}, layouts: {} }
    byLocale.set(locale, texts)
    texts[resourceType === 'layout' ? 'layouts' : 'workflows'][resourceId] = content
  }
  for (const [locale, { workflows, layouts }] of byLocale)
    intake.define('translation', locale, {
      ...(Object.keys(workflows).length > 0 ? { workflows } : {}),
      ...(Object.keys(layouts).length > 0 ? { layouts } : {}),
    })
}
