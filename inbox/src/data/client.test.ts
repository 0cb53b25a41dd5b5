import { afterEach, expect, test, vi } from 'vitest'
import { InboxClient } from './client.ts'
import type { Notification } from './notification.ts'

const none = { total: 0, severity: { high: 0, medium: 0, low: 0, none: 0 } }
const session = { data: { token: 't', unreadCount: none } }

/** The service as it answers: the session, and every change with this status. */
function answerChangesWith(status: number) {
  vi.stubGlobal('fetch', async (url: string) =>
    url.endsWith('/session') ? Response.json(session) : Response.json({ message: 'No' }, { status }),
  )
}
afterEach(() => vi.unstubAllGlobals())

const inbox = () =>
  new InboxClient({ backendUrl: 'http://belfry.example', applicationIdentifier: 'a', subscriber: 'ada' })
const read: Notification = {
  ...{ id: 'a', transactionId: 't', body: '', to: { id: '1', subscriberId: 'ada' }, tags: [], severity: 'high' },
  ...{ createdAt: '2026-05-01T10:00:00.000Z', isRead: true, isSeen: true, isArchived: false, isSnoozed: false },
}

test('a change counts at once, and is taken back when the service refuses it', async () => {
  answerChangesWith(409)
  const client = inbox()
  const changed = client.unread(read)
  expect(client.state.unread).toMatchObject({ total: 1, severity: { high: 1 } })
  await expect(changed).rejects.toMatchObject({ status: 409 })
  expect(client.state.unread).toEqual(none)
  expect(client.state.problem).toMatchObject({ message: 'No' })
})

test('a count answered while a change is in flight is not mixed with it', async () => {
  const oneUnread = { data: [1, 1, 0, 0, 0].map((count) => ({ count })) }
  let refuse: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    refuse = resolve
  })
  vi.stubGlobal('fetch', async (url: string) => {
    if (url.endsWith('/session')) return Response.json(session)
    if (url.includes('/count?')) return Response.json(oneUnread)
    await held
    return Response.json({ message: 'No' }, { status: 503 })
  })
  const client = inbox()
  const recounted = () => new Promise<void>((resolve) => client.on('changed', resolve))
  client.refresh()
  await recounted()
  expect(client.state.unread.total).toBe(1)
  const archived = client.archive({ ...read, isRead: false })
  expect(client.state.unread.total).toBe(0)
  client.refresh()
  await recounted()
  expect(client.state.unread.total).toBe(0)
  refuse()
  await expect(archived).rejects.toMatchObject({ status: 503 })
  expect(client.state.unread).toMatchObject({ total: 1, severity: { high: 1 } })
  client.close()
})
