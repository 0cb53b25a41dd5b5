// Simulated browsers that listen for events, a hundred times lighter than real ones.
import { WebSocket } from 'undici'
import { Secrets } from '../../../server/src/db/core/secrets.ts'
import { type Service, secretKey } from './service.ts'

export type Received = (message: { createdAt: string; data?: { sentAt?: number } }) => void

/** Ids like the service's: the second of creation, then a growing part. */
export const rowId = (kind: string, number: string, second: string) =>
  `lpad(to_hex(${second}), 8, '0') || '${kind}' || lpad(to_hex(${number}), 8, '0')`
export const subscriberRow = (number: string) => rowId('50050050', number, '1760000000')
const subscriberRowOf = (number: number) =>
  `${(1_760_000_000).toString(16)}50050050${number.toString(16).padStart(8, '0')}`

/** Adds subscribers `browser-0` to `browser-<count>`. */
export async function addSubscribers({ database, environmentId }: Service, count: number): Promise<void> {
  await database.query(
    `INSERT INTO subscribers (environment_id, id, subscriber_id, first_name, created_at, updated_at)
     SELECT $1, ${subscriberRow('n')}, 'browser-' || n, 'First' || n, now(), now() FROM generate_series(0, $2::int) n`,
    [environmentId, count],
  )
}

/** Signs tokens directly: the rate limit would refuse that many sessions from one address. */
export async function tokenOf({ database, environmentId }: Service): Promise<(subscriber: number) => string> {
  const { rows } = await database.query<{ organization_id: string }>(
    'SELECT organization_id FROM environments WHERE id = $1',
    [environmentId],
  )
  const secrets = new Secrets(secretKey)
  const now = Math.floor(Date.now() / 1000)
  const common = { organizationId: rows[0]?.organization_id, environmentId, contextKeys: [], iss: 'svc_api' }
  return (subscriber) =>
    secrets.makeToken({
      ...{ ...common, aud: 'widget_user', iat: now, exp: now + 86_400 },
      ...{ _id: subscriberRowOf(subscriber), subscriberId: `browser-${subscriber}` },
    })
}

/** The minimum of socket.io needed to receive events. */
export async function openSocket(
  { url }: Pick<Service, 'url'>,
  token: string,
  onMessage: Received,
): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket&token=${token}`)
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('error', () => reject(new Error('a socket could not be opened')))
    socket.addEventListener('message', ({ data }) => {
      const text = String(data)
      if (text.startsWith('0')) socket.send('40')
      else if (text === '2') socket.send('3')
      else if (text.startsWith('42')) {
        const [event, payload] = JSON.parse(text.slice(2)) as [string, { message: Parameters<Received>[0] }]
        if (event === 'notification_received') onMessage(payload.message)
        // The initial state has arrived: from now on it receives every event.
        else if (event === 'unread_count_changed') resolve()
      } else if (text.startsWith('44')) reject(new Error(`a socket was refused: ${text}`))
    })
  })
  return socket
}
