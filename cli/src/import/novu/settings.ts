// Layouts, integrations, variables, topics, tenants and contexts of Novu.
import { secretName } from '../../../../server/src/engine/definitions/settings.ts'
import { findStoredProvider, secretCredentials } from '../../../../server/src/providers/catalog.ts'
import { takeId } from '../identifier.ts'
import type { Intake } from '../intake.ts'
import { filled, type Json, Members } from '../members.ts'
import { type Ids, placeOf, providerIn } from './data.ts'

const internal = [
  ...[
    '_id',
    'id',
    '__v',
    'slug',
    '_organizationId',
    '_environmentId',
    '_creatorId',
    '_parentId',
    'createdAt',
    'updatedAt',
  ],
  ...['updatedBy', 'origin', 'type', 'deleted', 'deletedAt', 'deletedBy', 'version', 'revision', 'files', 'variables'],
]

/** A layout as `GET /v2/layouts/{id}` answers it. */
export function takeLayout(intake: Intake, value: Json): void {
  const { report } = intake
  const id = takeId(value, ['layoutId', 'identifier'], { report, kind: 'layout', place: placeOf(value) })
  if (id === undefined) return
  const members = new Members(value, { report, kind: 'layout', id })
  members.renewed(internal)
  members.renewed(['channel', 'contentType', 'isDeleted', 'content'])
  const isInControls = !members.has('controlValues')
  const controls = members.members('controls')
  controls.renewed(['dataSchema', 'uiSchema'], 'answers say it; it follows from the rest')
  const given = isInControls ? controls.members('values') : members.members('controlValues')
  if (!isInControls) controls.renewed(['values'], 'answers say it; it follows from the rest')
  controls.end()
  members.take('layoutId')
  members.take('identifier')
  const email = given.members('email')
  const own = email.text('body')
  const editorType = email.text('editorType')
  email.end('a layout has a body')
  given.end('a layout has a body')
  const body = own ?? (typeof value.content === 'string' ? value.content : undefined)
  intake.define('layout', id, {
    layoutId: id,
    name: members.text('name') ?? id,
    ...(members.take('isDefault') === true ? { isDefault: true } : {}),
    ...(members.take('isTranslationEnabled') === true ? { isTranslationEnabled: true } : {}),
    ...(typeof body === 'string'
      ? {
          controlValues: {
            email: { body, ...filled({ editorType: editorType ?? (own === undefined ? 'html' : undefined) }) },
          },
        }
      : {}),
  })
  members.unmapped('description', 'no_equivalent', 'a layout has no description here')
  members.end()
}

/** Secrets are listed by name; the integration is made inactive until they are set. */
export function takeIntegration(intake: Intake, value: Json, ids: Ids): void {
  const { report } = intake
  const id = takeId(value, ['identifier', '_id'], { report, kind: 'integration', place: placeOf(value) })
  if (id === undefined) return
  if (typeof value._id === 'string') ids.integrations.set(value._id, id)
  const members = new Members(value, { report, kind: 'integration', id })
  members.renewed([...internal, 'priority', 'connected', 'identifier'])
  members.take('kind')
  members.unmapped('configurations', 'no_equivalent', 'set up delivery reports anew; their address is another')
  const providerId = providerIn(members.take('providerId'))
  const provider = findStoredProvider(providerId)
  const credentials: Json = {}
  const given = members.members('credentials')
  for (const name of given.rest()) {
    const member = given.take(name)
    if (member === undefined || member === null || member === '') continue
    const isSecret = secretCredentials.has(name) || (typeof member === 'string' && member.startsWith('nvsk.'))
    if (isSecret) {
      credentials[name] = { $secret: secretName(id, name) }
      report.unmapped({
        ...{ kind: 'integration', id, path: `credentials.${name}`, code: 'secret' },
        why: `secrets do not come along; set ${secretName(id, name)} where you push`,
      })
    } else credentials[name] = member
  }
  if (!provider) {
    report.unmapped({
      ...{ kind: 'integration', id, path: 'providerId', code: 'no_provider' },
      why: `there is no provider "${providerId}"`,
    })
    return
  }
  const isActive = members.take('active') === true
  const conditions = members.objects('conditions')
  intake.define('integration', id, {
    ...{ identifier: id, name: members.text('name') ?? id, channel: members.take('channel'), providerId },
    ...(isActive ? { active: true } : {}),
    ...(isActive && members.take('primary') === true ? { primary: true } : {}),
    ...(conditions.length > 0 ? { conditions } : {}),
    ...(Object.keys(credentials).length > 0 ? { credentials } : {}),
  })
  members.take('primary')
  members.end()
}

/** The value in the environment that is read. */
export function takeVariable(intake: Intake, value: Json, environmentId: string | undefined): void {
  const { report } = intake
  const key = takeId(value, ['key'], { report, kind: 'variable', place: placeOf(value) })
  if (key === undefined) return
  const members = new Members(value, { report, kind: 'variable', id: key })
  members.renewed(internal)
  const isSecret = members.take('isSecret') === true
  const values = members.each('values').map((each) => ({ of: each.take('_environmentId'), members: each }))
  const own = values.find((each) => each.of === environmentId)
  if (values.length > 1) report.renewed('variable', 'values', 'only the value in the environment that is read is taken')
  const text = own?.members.text('value') ?? ''
  own?.members.renewed(['_id'])
  own?.members.end()
  members.take('key')
  members.end()
  if (!own) {
    report.unmapped({
      ...{ kind: 'variable', id: key, path: 'values', code: 'no_value' },
      why:
        environmentId === undefined
          ? 'there are values of several environments; choose one with --source-environment'
          : 'it has no value in this environment',
    })
    return
  }
  if (isSecret)
    report.unmapped({
      ...{ kind: 'variable', id: key, path: 'value', code: 'secret' },
      why: `secrets do not come along; set ${secretName(key, 'value')} where you push`,
    })
  intake.define('variable', key, {
    key,
    ...(isSecret ? { isSecret: true } : {}),
    value: isSecret ? { $secret: secretName(key, 'value') } : text,
  })
}

/** @returns whether it has a key, and was taken */
export function takeTopic(intake: Intake, value: Json): boolean {
  const { report } = intake
  const key = takeId(value, ['key'], { report, kind: 'topic', place: placeOf(value) })
  if (key === undefined) return false
  const members = new Members(value, { report, kind: 'topic', id: key })
  members.renewed([...internal, 'subscribers', '_topicId'])
  members.take('key')
  intake.define('topic', key, {
    key,
    ...filled({ name: members.text('name') }),
    ...(members.take('joinableFromBrowser') === true ? { joinableFromBrowser: true } : {}),
  })
  members.end()
  return true
}

export function takeTenant(intake: Intake, value: Json): void {
  const { report } = intake
  const identifier = takeId(value, ['identifier'], { report, kind: 'tenants', place: placeOf(value) })
  if (identifier === undefined) return
  const members = new Members(value, { report, kind: 'tenants', id: identifier })
  members.renewed(internal)
  members.take('identifier')
  intake.add('tenants', filled({ identifier, name: members.text('name'), data: members.take('data') }))
  members.end()
}

export function takeContext(intake: Intake, value: Json): void {
  const { report } = intake
  const id = takeId(value, ['id', 'contextId'], { report, kind: 'contexts', place: placeOf(value) })
  if (id === undefined) return
  const members = new Members(value, { report, kind: 'contexts', id })
  const type = members.text('type')
  members.renewed([...internal.filter((name) => name !== 'type' && name !== 'id'), 'key'])
  intake.add('contexts', { type, id, ...filled({ data: members.take('data') }) })
  for (const name of ['id', 'contextId', 'key']) members.take(name)
  members.end()
}
