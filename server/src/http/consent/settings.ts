// The consent settings of an environment: the brand that people see, the footer of commercial mail, when bounces hold an address
// back, the words of text messages, and the brakes.
import { type Static, type TObject, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import type { ConsentChoices } from '../../db/core/tables.ts'
import { type ConsentSettings, consentOf } from '../../db/queries/consent.ts'
import { lockOrganization } from '../../db/queries/environments.ts'
import { problemOfStopWord } from '../../engine/consent/keywords.ts'
import { fail } from '../../errors.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { requireOwn } from '../edge/reach.ts'
import type { Resource } from '../edge/resource.ts'
import { Enum, Nullable } from '../edge/schema.ts'
import { fieldError } from '../edge/validation.ts'

const Text = (maxLength: number, more: object = {}) => Nullable(Type.String({ minLength: 1, maxLength, ...more }))
const Brand = Type.Object({
  name: Text(128),
  logoUrl: Text(2_048, { description: 'An https address' }),
  primaryColor: Text(7, { pattern: '^#[0-9a-fA-F]{6}$', description: '`#rrggbb`' }),
  postalAddress: Text(512),
  linkBaseUrl: Text(255, {
    description: 'An https address without a path that leads to this service; null: the public address of the service',
  }),
})
const Count = (minimum: number, maximum: number, description: string) => Type.Integer({ minimum, maximum, description })
const SoftBounces = Type.Object({
  count: Count(1, 100, 'So many soft bounces, on different messages'),
  days: Count(1, 90, 'within so many days, without a delivery between them'),
  suppressDays: Count(1, 365, 'hold an address back for so many days'),
})
const Reply = (to: string) => Text(320, { description: `The answer to ${to}; null: the built-in sentence` })
const Sms = Type.Object({
  keywords: Type.Boolean({ description: 'Whether words such as STOP are obeyed; otherwise the provider does that' }),
  scope: Enum(['all', 'commercial'], { description: 'What a STOP refuses' }),
  stopReply: Reply('STOP'),
  startReply: Reply('START'),
  helpReply: Reply('HELP'),
  extraStopWords: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 50 }),
})
const Percent = Type.Number({ minimum: 0.01, maximum: 100 })
const Brakes = Type.Object({
  enabled: Type.Boolean(),
  bouncePercent: Percent,
  complaintPercent: Percent,
  minimum: Count(10, 1_000_000, 'Not before so many emails of a workflow'),
  hours: Count(1, 168, 'within so many hours'),
})
const sections = { brand: Brand, softBounces: SoftBounces, sms: Sms, brakes: Brakes }
const Consent = Type.Object({
  ...sections,
  footer: Type.Boolean({ description: 'Whether commercial mail without a link to unsubscribe gets a footer with one' }),
})
/** A setting that is misspelt is refused: it would do nothing, unnoticed. */
const only = (...names: string[]) => ({ propertyNames: { enum: names } })

/** Member by member; null resets one, or all of them. */
const changeOf = <S extends TObject>(section: S) =>
  Type.Optional(
    Type.Unsafe<{ [name in keyof Static<S>]?: Static<S>[name] | null } | null>({
      type: ['object', 'null'],
      properties: Object.fromEntries(
        Object.entries(section.properties).map(([name, schema]) => {
          const { type, enum: values } = schema as { type: string | string[]; enum?: unknown[] }
          return [
            name,
            { ...schema, type: [...new Set([type, 'null'].flat())], ...(values ? { enum: [...values, null] } : {}) },
          ]
        }),
      ),
      ...only(...Object.keys(section.properties)),
    }),
  )
const Change = Type.Object(
  {
    brand: changeOf(Brand),
    softBounces: changeOf(SoftBounces),
    sms: changeOf(Sms),
    brakes: changeOf(Brakes),
    footer: Type.Optional(Nullable(Type.Boolean())),
  },
  {
    ...only(...Object.keys(sections), 'footer'),
    examples: [{ brand: { name: 'Acme', postalAddress: '1 Main Street, Springfield' } }],
  },
)
const Params = Type.Object({ environmentId: Type.String() })
const command = 'ChangeConsentCommand'

export const consentSettings: Resource = (app, { db, clock, http }) => {
  const tags = ['Environments']

  app.get(
    '/v2/environments/:environmentId/consent',
    {
      schema: {
        tags,
        summary: 'Retrieve the consent settings of an environment',
        params: Params,
        response: { 200: Consent },
      },
    },
    async (request): Promise<ConsentSettings> => {
      const { environmentId } = request.params
      requireOwn(request, environmentId)
      return consentOf((await findChoices(db, request.environment.organizationId, environmentId)).consent)
    },
  )

  app.patch(
    '/v2/environments/:environmentId/consent',
    {
      config: { role: 'admin', act: 'environment.consent-changed' },
      schema: {
        tags,
        summary: 'Change the consent settings of an environment',
        description: 'Member by member; null goes back to the default.',
        params: Params,
        body: Change,
        response: { 200: Consent },
      },
    },
    async (request): Promise<ConsentSettings> => {
      const { environment, params, body } = request
      requireOwn(request, params.environmentId)
      const { type } = await findChoices(db, environment.organizationId, params.environmentId)
      const client = type === 'dev' ? http.development : http
      for (const name of ['logoUrl', 'linkBaseUrl'] as const)
        refuseAddress(name, body.brand?.[name], client.mayCallHere)
      refuseStopWords(body.sms?.extraStopWords ?? [])
      if (typeof body.brand?.linkBaseUrl === 'string') await refuseUnreachable(client, body.brand.linkBaseUrl)
      return db.transaction().execute(async (tx) => {
        await lockOrganization(tx, environment.organizationId)
        const current = (await findChoices(tx, environment.organizationId, params.environmentId)).consent
        const footer = body.footer === undefined ? current?.footer : (body.footer ?? undefined)
        const chosen: ConsentChoices = {
          ...(footer === undefined ? {} : { footer }),
          ...merged('brand', current, body),
          ...merged('softBounces', current, body),
          ...merged('sms', current, body),
          ...merged('brakes', current, body),
        }
        await tx
          .updateTable('environments')
          .set({ consent: JSON.stringify(chosen), updated_at: clock.now() })
          .where('id', '=', params.environmentId)
          .execute()
        return consentOf(chosen)
      })
    },
  )
}

/** What was chosen before and now. */
function merged<Name extends keyof typeof sections>(
  name: Name,
  current: ConsentChoices | null,
  change: { [section in Name]?: object | null },
): ConsentChoices {
  const before = change[name] === null ? {} : current?.[name]
  const members = given({ ...before, ...change[name] })
  return Object.keys(members).length > 0 ? { [name]: members } : {}
}

const given = <T extends object>(members: T): T =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null)) as T

async function findChoices(db: Db | Tx, organizationId: string, environmentId: string) {
  const row = await db
    .selectFrom('environments')
    .select(['consent', 'type'])
    .where('organization_id', '=', organizationId)
    .where('id', '=', environmentId)
    .executeTakeFirst()
  if (!row) throw fail('environment_not_found', { environmentId })
  return row
}

function refuseAddress(name: 'logoUrl' | 'linkBaseUrl', text: string | null | undefined, isLocal: boolean): void {
  if (typeof text !== 'string') return
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSafe = url?.protocol === 'https:' || (isLocal && url?.protocol === 'http:')
  const isBare =
    name === 'logoUrl' || (url?.pathname === '/' && url.search === '' && url.hash === '' && !text.endsWith('/'))
  if (isSafe && isBare && url?.username === '' && url.password === '') return
  const problem = name === 'logoUrl' ? 'must be an https address' : 'must be an https address without a path'
  throw fieldError(command, { [`brand.${name}`]: [problem] }, { [name]: text })
}

function refuseStopWords(extraStopWords: string[]): void {
  const problems = extraStopWords.map(problemOfStopWord).filter((problem) => problem !== undefined)
  if (problems.length > 0) throw fieldError(command, { 'sms.extraStopWords': problems }, { sms: { extraStopWords } })
}

async function refuseUnreachable(
  http: { get(url: string, request?: object): Promise<{ json: unknown }> },
  url: string,
): Promise<void> {
  const refused = (reason: string, cause?: unknown) => fail('link_base_unreachable', { url, reason }, { cause })
  try {
    const { json } = await http.get(`${url}/l/whoami`, { timeoutMs: 5_000 })
    if ((json as { service?: unknown } | null)?.service !== 'belfry') throw refused('another service answers there')
  } catch (error) {
    if (error instanceof DeliveryError) throw refused(error.message, error)
    throw error
  }
}
