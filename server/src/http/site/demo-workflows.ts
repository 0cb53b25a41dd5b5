// The demo's workflows, created when somebody first opens it, and the payloads of its triggers.
import type { Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import { saveWorkflows } from '../../db/queries/workflows.ts'
import { completePreferences } from '../../engine/core/preferences.ts'
import { fail } from '../../errors.ts'
import { planSteps, storedValues } from '../workflows/steps.ts'

type Steps = Parameters<typeof storedValues>[0]

interface DemoWorkflow {
  identifier: string
  name: string
  /** Shown on the page. */
  description: string
  tags: string[]
  severity: 'none' | 'low' | 'medium' | 'high'
  steps: Steps
  /** Used in turn. */
  payloads: Array<Record<string, string>>
}

const link = (url: string) => ({ redirect: { url, target: '_self' as const } })

export const demoWorkflows: DemoWorkflow[] = [
  {
    identifier: 'demo-comment',
    name: 'A comment',
    description: 'Somebody commented. One in-app message with a button.',
    tags: ['comments'],
    severity: 'none',
    steps: [
      {
        name: 'Inbox',
        type: 'in_app',
        controlValues: {
          subject: '**{{payload.who}}** commented on *{{payload.where}}*',
          body: '{{payload.text}}',
          primaryAction: { label: 'Reply', ...link('/demo#reply') },
        },
      },
    ],
    payloads: [
      { who: 'Grace Hopper', where: 'Q3 plan', text: 'Looks good to me. Can we ship it on Thursday?' },
      { who: 'Linus Åkerlund', where: 'Pricing page', text: 'I would put the annual price first.' },
      { who: 'نور الهدى', where: 'Launch video', text: 'الترجمة جاهزة 🎬' },
    ],
  },
  {
    identifier: 'demo-invitation',
    name: 'An invitation',
    description: 'Two buttons to choose from, and the same by email, into the sandbox.',
    tags: ['team'],
    severity: 'none',
    steps: [
      {
        name: 'Inbox',
        type: 'in_app',
        controlValues: {
          subject: 'Join **{{payload.team}}**?',
          body: '{{payload.who}} invites you. The invitation is open for a week.',
          primaryAction: { label: 'Accept', ...link('/demo#accepted') },
          secondaryAction: { label: 'Decline', ...link('/demo#declined') },
        },
      },
      {
        name: 'E-mail',
        type: 'email',
        controlValues: {
          subject: 'Join {{payload.team}}',
          editorType: 'html',
          body: '<p>Hello {{subscriber.firstName}},</p><p>{{payload.who}} invites you to {{payload.team}}.</p>',
        },
      },
    ],
    payloads: [
      { team: 'Design', who: 'Margaret Hamilton' },
      { team: 'Incident response', who: 'Ken Thompson' },
    ],
  },
  {
    identifier: 'demo-alert',
    name: 'An alert',
    description: 'Of high severity: the bell and the row say so.',
    tags: ['alerts'],
    severity: 'high',
    steps: [
      {
        name: 'Inbox',
        type: 'in_app',
        controlValues: { subject: '**{{payload.what}}**', body: '{{payload.text}}', ...link('/demo#alert') },
      },
    ],
    payloads: [
      { what: 'Payments are failing', text: '12 of the last 20 charges were declined by the bank.' },
      { what: 'Disk almost full', text: 'db-1 has 3 % left, which is about two hours.' },
    ],
  },
  {
    identifier: 'demo-digest',
    name: 'Likes, collected',
    description: 'Press it a few times: ten seconds after the first press, one message has them all.',
    tags: ['social'],
    severity: 'none',
    steps: [
      {
        name: 'Collect',
        stepId: 'collect',
        type: 'digest',
        controlValues: { type: 'regular', amount: 10, unit: 'seconds' },
      },
      {
        name: 'Inbox',
        type: 'in_app',
        controlValues: {
          subject: '{{steps.collect.eventCount | pluralize: "like"}} on *{{payload.where}}*',
          body: 'From {{steps.collect.events | digest: 2, "payload.who"}}',
        },
      },
    ],
    payloads: ['Ada', 'Barbara', 'Edsger', 'Radia', 'Tony'].map((who) => ({ who, where: 'your post' })),
  },
]

/** Creates the missing ones, and leaves existing ones as they were edited. */
export async function addDemoWorkflows(
  tx: Tx,
  { environmentId, userId, now, limit }: { environmentId: string; userId: string; now: Date; limit: number },
): Promise<void> {
  await lockEnvironment(tx, environmentId)
  const there = await tx
    .selectFrom('workflows')
    .select('identifier')
    .where('environment_id', '=', environmentId)
    .limit(limit)
    .execute()
  const missing = demoWorkflows.filter(({ identifier }) => !there.some((row) => row.identifier === identifier))
  if (there.length + missing.length > limit) throw fail('too_many_workflows', { limit })
  await saveWorkflows(
    tx,
    { environmentId, userId, now },
    missing.map(({ identifier, name, description, tags, severity, steps }) => ({
      id: newId(now),
      fields: {
        ...{ identifier, name: `Demo: ${name.toLowerCase()}`, description, tags, severity },
        origin: 'svc-cloud',
        active: true,
        critical: false,
        data: null,
        steps: planSteps(storedValues(steps), [], now),
        payload_schema: { type: 'object', additionalProperties: true, properties: {} },
        validate_payload: false,
        is_translation_enabled: false,
        preferences: completePreferences(undefined),
        user_preferences: null,
      },
    })),
  )
}
