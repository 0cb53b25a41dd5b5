// Reads what the service behind an environment made of a trigger: its activity and its messages, as Novu's API tells them.
import { DeliveryError } from '../../providers/delivery-error.ts'
import { type HttpClient, jsonIn } from '../../providers/http-client.ts'
import {
  addressesOf,
  buttonsIn,
  contentIn,
  groupedBy,
  isWaiting,
  mostRuns,
  orderedJson,
  type SeenMessage,
  type SeenRun,
  type Side,
  statusOf,
  textIn,
} from './side.ts'

export interface Upstream {
  url: string
  key: string
}

/** It gave no answer, or none that we can read. */
export class UpstreamUnreadable extends Error {}

const timeoutMs = 15_000
const mostBytes = 32 * 1024 * 1024
const runsPerPage = 50
const messagesPerPage = 100

type Members = Record<string, unknown>

export async function readUpstream(
  http: Pick<HttpClient, 'exchange'>,
  upstream: Upstream,
  transactionId: string,
): Promise<Side> {
  const query = `transactionId=${encodeURIComponent(transactionId)}`
  const runs = await readPages(http, upstream, `/v1/notifications?${query}&limit=${runsPerPage}`, mostRuns)
  const messages =
    runs.data.length === 0
      ? { data: [], isWhole: true }
      : await readPages(http, upstream, `/v1/messages?${query}&limit=${messagesPerPage}`, mostRuns * 5)
  const byJob = groupedBy(messages.data, ({ _jobId }) => String(_jobId))
  const seen = runs.data.map((run) => seenRun(run, byJob))
  return {
    runs: new Map(seen.map((run) => [run.subscriberId, run])),
    isWhole: runs.isWhole && messages.isWhole,
    hasEnded: !seen.some(isWaiting),
  }
}

async function readPages(
  http: Pick<HttpClient, 'exchange'>,
  { url, key }: Upstream,
  path: string,
  most: number,
): Promise<{ data: Members[]; isWhole: boolean }> {
  const data: Members[] = []
  for (let page = 0; ; page += 1) {
    const answer = await http
      .exchange(`${url}${path}&page=${page}`, {
        ...{ headers: { authorization: `ApiKey ${key}` }, timeoutMs, mostBytes },
      })
      .catch((error: unknown) => {
        if (error instanceof DeliveryError) throw new UpstreamUnreadable(error.message, { cause: error })
        throw error
      })
    const { data: items, hasMore } = (jsonIn(answer) ?? {}) as { data?: unknown; hasMore?: unknown }
    if (answer.status !== 200 || !Array.isArray(items))
      throw new UpstreamUnreadable(`${path.split('?', 1)[0]} was answered with status ${answer.status}`)
    data.push(...(items as Members[]))
    if (hasMore !== true || items.length === 0) return { data, isWhole: true }
    if (data.length >= most) return { data, isWhole: false }
  }
}

function seenRun(run: Members, messages: Map<string, Members[]>): SeenRun {
  const { subscriber, to, jobs, createdAt } = run
  const name = textIn((subscriber as Members | null)?.subscriberId) ?? textIn((to as Members | null)?.subscriberId)
  const steps = (Array.isArray(jobs) ? (jobs as Members[]) : [])
    .filter(({ type, of }) => type !== 'trigger' && of === undefined)
    .map((job) => ({
      stepId: textIn((job.step as Members | null)?.stepId) ?? '',
      type: String(job.kind ?? job.type),
      status: statusOf(String(job.status)),
      messages: (messages.get(String(job._id)) ?? []).map(seenMessage),
    }))
  return { subscriberId: name ?? String(run._subscriberId), startedAt: dateIn(createdAt), steps }
}

const dateIn = (value: unknown): Date => new Date(String(value))

function seenMessage(message: Members): SeenMessage {
  const { channel, email, phone, deviceTokens, directWebhookUrl, subject, title, content, avatar, cta, createdAt } =
    message
  return {
    channel: String(channel),
    addresses: addressesOf(String(channel), email, phone, deviceTokens, directWebhookUrl),
    content: {
      subject: textIn(subject) ?? textIn(title),
      content: contentIn(String(channel), content),
      avatar: textIn(avatar),
      cta: orderedJson(buttonsIn(cta)),
    },
    at: dateIn(createdAt),
  }
}
