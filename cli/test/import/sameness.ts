// What an environment has, in a form in which two environments can be compared, and a service that stops answering.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { fetch } from 'undici'
import type { Api } from '../../../server/test/server.ts'

// biome-ignore lint/suspicious/noExplicitAny: whatever the service answers
type Any = any

/** Everything that an import brings along, without internal ids and times of the place. */
export async function everythingIn(api: Api, url: string): Promise<Record<string, unknown>> {
  const get = async (path: string): Promise<Any> => {
    const headers = { authorization: `ApiKey ${api.key}`, 'belfry-environment': api.environmentId }
    const answer = await fetch(url + path, { headers })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const all = async (path: string): Promise<Any[]> => {
    const found: Any[] = []
    for (let after = ''; ; ) {
      const page = await get(`${path}?limit=100&orderDirection=ASC${after}`)
      found.push(...page.data)
      if (!page.next) return found
      after = `&after=${page.next}`
    }
  }
  const { resources } = await get('/v2/definitions?kinds=workflow,layout,translation,topic,integration,variable')
  const subscribers = await all('/v2/subscribers')
  const people = subscribers.map(
    ({ _id, _organizationId, _environmentId, isOnline, lastOnlineAt, channels, ...rest }: Any) => ({
      ...rest,
      channels: channels.map(({ _integrationId, ...channel }: Any) => channel),
    }),
  )
  const messages = (await get('/v1/messages?channel=in_app&limit=1000')).data.map((message: Any) => ({
    ...Object.fromEntries(
      [
        '_id',
        'transactionId',
        'templateIdentifier',
        'subject',
        'content',
        'cta',
        'read',
        'seen',
        'archived',
        'tags',
        'data',
        'severity',
      ].map((name) => [name, message[name]]),
    ),
    ...Object.fromEntries(
      ['createdAt', 'firstSeenDate', 'lastReadDate', 'archivedAt', 'deliveredAt', 'stepId'].map((name) => [
        name,
        message[name],
      ]),
    ),
    subscriberId: message.subscriber?.subscriberId,
  }))
  const subscriptions: Any[] = []
  for (const { key } of await all('/v2/topics'))
    for (const { identifier, subscriber } of await all(`/v2/topics/${key}/subscriptions`)) {
      const { name, contextKeys, preferences } = await get(
        `/v2/topics/${key}/subscriptions/${encodeURIComponent(identifier)}`,
      )
      subscriptions.push({
        key,
        identifier,
        subscriberId: subscriber.subscriberId,
        name,
        contextKeys,
        preferences: preferences.map(({ enabled, workflow }: Any) => [enabled, workflow.identifier]),
      })
    }
  const withPreferences = people.filter(
    ({ subscriberId }: Any) => !/^s-\d/.test(subscriberId) || subscriberId === 's-001',
  )
  const preferences: Any = {}
  for (const { subscriberId } of withPreferences) {
    const { global, workflows } = await get(`/v2/subscribers/${subscriberId}/preferences?criticality=all`)
    preferences[subscriberId] = {
      global,
      workflows: workflows
        .map(({ channels, overrides, workflow, updatedAt }: Any) => ({
          channels,
          overrides,
          updatedAt,
          id: workflow.identifier,
        }))
        .sort((a: Any, b: Any) => (a.id < b.id ? -1 : 1)),
    }
  }
  return {
    // Integrations come without their secrets, and are not active.
    definitions: resources
      .filter(({ definition }: Any) => !/^(?:svc|web-push$)/.test(String(definition.providerId)))
      .map(({ kind, id, definition: { active, primary, credentials = {}, ...definition } }: Any) => ({
        ...{ kind, id, ...definition, ...(kind === 'integration' ? {} : { active }) },
        credentials: Object.entries(credentials).filter(([, value]) => typeof value === 'string'),
      })),
    people,
    preferences,
    messages,
    subscriptions,
    tenants: (await get('/v1/tenants?limit=100')).data.map(({ identifier, name, data }: Any) => ({
      identifier,
      name,
      data,
    })),
    contexts: (await all('/v2/contexts')).map(({ type, id, data }: Any) => ({ type, id, data })),
  }
}

/** Passes requests on, and refuses all after so many. @param isAnswered false: the last one is done, but its answer gets lost */
export async function cutAfter(url: string, requests: number, { isAnswered }: { isAnswered: boolean }) {
  let seen = 0
  const server = http.createServer((request, response) => {
    seen += 1
    const isOver = seen > requests
    const refuse = () =>
      response.writeHead(403, { 'content-type': 'application/json' }).end('{"code":"cut","message":"cut"}')
    if (isOver && isAnswered) {
      refuse()
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const {
        host: _,
        connection: _b,
        'content-length': _c,
        'transfer-encoding': _d,
        ...headers
      } = request.headers as Record<string, string>
      void fetch(url + request.url, {
        method: request.method ?? 'GET',
        headers,
        ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
      })
        .then(async (answer) => {
          const body = await answer.text()
          if (isOver) refuse()
          else
            response
              .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
              .end(body)
        })
        .catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
