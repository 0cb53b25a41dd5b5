// Providers an integration can name, of which only the credentials are written down so far. Whoever writes one's file takes
// its row away from here.
import type { Channel, Field } from './provider.ts'

export interface PendingProvider {
  id: string
  name: string
  channel: Channel
  credentials: Record<string, Field>
}

const flags = new Set(['secure', 'requireTls', 'ignoreTls', 'hmac', 'authenticateByToken'])
const secrets = new Set(
  words(['apiKey apiToken secretKey token password serviceAccount signingSecret accessKey webhookUrl']),
)

interface Group {
  channel: Channel
  /** Credentials every provider of the group takes; `*` marks the required ones. */
  base: string
  rows: Array<[id: string, name: string, credentials: string]>
}

const groups: Group[] = [
  { channel: 'email', base: '', rows: [['svc-email', 'Belfry Email', '']] },
  { channel: 'sms', base: '', rows: [['svc-sms', 'Belfry SMS', '']] },
  {
    channel: 'chat',
    base: '',
    rows: [['svc-slack', 'Belfry Slack', '']],
  },
]

export const pending: PendingProvider[] = groups.flatMap(({ channel, base, rows }) =>
  rows.map(([id, name, own]) => ({
    ...{ id, name, channel },
    credentials: Object.fromEntries(words([base, own]).map((word) => [word.replace('*', ''), fieldOf(word)])),
  })),
)

function fieldOf(word: string): Field {
  const label = word.replace('*', '')
  const required = word.endsWith('*')
  return { label, type: flags.has(label) ? 'flag' : 'text', required, needed: required, secret: secrets.has(label) }
}

function words(lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' ').filter((word) => word !== ''))
}
