// The HTTP request step: calls an address of the user's and hands the answer to later steps.
import { absoluteUrlPattern, objectSchema, openObject, type StepKind, skip, skipUi, withoutNulls } from './kind.ts'

const pair = objectSchema({ key: { type: 'string', minLength: 1 }, value: { type: 'string', minLength: 1 } }, [
  'key',
  'value',
])
export const defaultTimeoutMs = 5_000
export const shortestTimeoutMs = 100
export const longestTimeoutMs = 30_000

export const httpRequest: StepKind = {
  type: 'http_request',
  dataSchema: objectSchema(
    {
      skip,
      method: { type: 'string', enum: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] },
      url: { type: 'string', minLength: 1, maxLength: 2048, pattern: absoluteUrlPattern },
      headers: { type: 'array', items: pair, maxItems: 50 },
      body: {
        anyOf: [
          { type: 'string', maxLength: 65_536 },
          { type: 'array', items: pair, maxItems: 100 },
        ],
      },
      responseBodySchema: openObject,
      enforceSchemaValidation: { type: 'boolean', default: false },
      continueOnFailure: { type: 'boolean', default: false },
      timeout: { type: 'number', minimum: shortestTimeoutMs, maximum: longestTimeoutMs, default: defaultTimeoutMs },
    },
    ['method', 'url'],
  ),
  uiSchema: {
    group: 'HTTP_REQUEST',
    properties: {
      ...skipUi,
      method: { component: 'DESTINATION_METHOD', placeholder: 'POST' },
      url: { component: 'DESTINATION_URL', placeholder: 'https://api.example.com/endpoint' },
      headers: { component: 'DESTINATION_HEADERS' },
      body: { component: 'DESTINATION_BODY' },
      responseBodySchema: { component: 'DESTINATION_RESPONSE_BODY_SCHEMA' },
      enforceSchemaValidation: { component: 'DESTINATION_ENFORCE_SCHEMA_VALIDATION', placeholder: false },
      continueOnFailure: { component: 'DESTINATION_CONTINUE_ON_FAILURE', placeholder: false },
      timeout: { component: 'DESTINATION_TIMEOUT', placeholder: defaultTimeoutMs },
    },
  },
  normalise: withoutNulls,
  isSigned: true,
  literals: ['responseBodySchema'],
  urlText: 'Invalid URL. Must be a full URL starting with http:// or https://, or start with a {{variable}}',
  resultSchema({ responseBodySchema }) {
    const declared = responseBodySchema as Record<string, unknown> | null | undefined
    return declared && Object.keys(declared).length > 0 ? declared : openObject
  },
}
