// Credentials and configurations of integrations, in requests and answers.
import { type Static, type TSchema, Type } from 'typebox'
import { mask } from '../../db/core/environment-access.ts'
import { openSecrets, sealSecrets } from '../../db/core/integration-facts.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { onUnknownChoices } from '../../db/queries/workflows.ts'
import { credentialNames, type Provider, secretCredentials } from '../../providers/catalog.ts'
import type { Credentials } from '../../providers/provider.ts'
import { parseBody } from '../edge/body.ts'
import { Body, Enum, FreeObject } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'

const optional = (names: string[], schema: TSchema) => names.map((name) => [name, Type.Optional(schema)] as const)
const credentialsWith = (object: TSchema) =>
  Type.Unsafe<Credentials>(
    Body(
      Object.fromEntries([
        ...optional(credentialNames.text, Type.String()),
        ...optional(credentialNames.flag, Type.Boolean()),
        ...optional(credentialNames.object, object),
      ]),
    ),
  )
/** Forms send objects as typed JSON text. */
export const GivenCredentials = credentialsWith(
  Type.Unsafe({ type: ['object', 'string'], additionalProperties: true, texts: { type: 'must be an object' } }),
)
export const IntegrationCredentials = credentialsWith(FreeObject)

export const Configurations = Body({
  inboundWebhookEnabled: Type.Optional(Type.Boolean()),
  inboundWebhookSigningKey: Type.Optional(Type.String()),
  configurationSetName: Type.Optional(Type.String()),
  inboxCount: Type.Optional(Enum(['none', 'unread', 'unseen'])),
  bounceAddress: Type.Optional(
    Type.Boolean({
      description:
        'For SMTP, where the environment receives mail: mail servers report to us what they could not deliver',
    }),
  ),
  onUnknown: Type.Optional(
    Enum(onUnknownChoices, {
      description:
        'After a crash or timeout that leaves open whether a message arrived: `retry` (the default) sends it again, `hold` does not',
    }),
  ),
})
const secretConfigurations: ReadonlySet<string> = new Set(['inboundWebhookSigningKey'])

export function readCredentials(given: Credentials = {}, provider?: Provider): Credentials {
  const credentials = { ...given }
  for (const { name, formerly = name } of provider?.credentials ?? []) {
    if (formerly === name || credentials[name] || !credentials[formerly]) continue
    credentials[name] = credentials[formerly]
    delete credentials[formerly]
  }
  for (const name of credentialNames.object) {
    const value = credentials[name]
    if (typeof value !== 'string') continue
    const object = value.trim() === '' ? undefined : parseObject(value)
    if (object === null) throw generalError([`credentials.${name} must be an object`])
    credentials[name] = object
  }
  return credentials
}

function parseObject(text: string): object | null {
  try {
    const value = parseBody(Buffer.from(text))
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** In stored form, with secrets encrypted. */
export const sealCredentials = (secrets: Secrets, credentials: Credentials): string =>
  JSON.stringify(sealSecrets(credentials, secretCredentials, secrets))

export const openCredentials = (secrets: Secrets, row: Pick<IntegrationRow, 'credentials'>): Credentials =>
  openSecrets(row.credentials, secretCredentials, secrets)

export const sealConfigurations = (secrets: Secrets, configurations: Static<typeof Configurations>): string =>
  JSON.stringify(sealSecrets(configurations, secretConfigurations, secrets))

export const openConfigurations = (secrets: Secrets, row: IntegrationRow): Static<typeof Configurations> =>
  openSecrets(row.configurations, secretConfigurations, secrets)

/** With secrets masked, for people who may not see them. */
export function withoutSecrets<T extends { credentials: Credentials; configurations: Static<typeof Configurations> }>(
  integration: T,
): T {
  return {
    ...integration,
    credentials: masked(integration.credentials, secretCredentials),
    configurations: masked(integration.configurations, secretConfigurations),
  }
}

function masked<T extends object>(values: T, secret: ReadonlySet<string>): T {
  const entries = Object.entries(values) as Array<[string, unknown]>
  return Object.fromEntries(
    entries.flatMap(([name, value]) => {
      if (!secret.has(name) || value === '' || value === null || value === undefined) return [[name, value]]
      // An object cannot be replaced by a mask.
      return typeof value === 'object' ? [] : [[name, mask]]
    }),
  ) as T
}
