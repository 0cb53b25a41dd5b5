// The service worker that shows push messages and opens their page. Pages on another origin import it into one of their own.

interface Notice {
  title?: string
  body?: string
  navigate?: string
  lang?: string
  dir?: NotificationDirection
  tag?: string
  silent?: boolean
  app_badge?: string
  data?: { messageId?: string }
}

interface PushWorkerEvent extends Event {
  data?: { json(): unknown }
  notification: Notification
  waitUntil(done: Promise<unknown>): void
}

interface PushWorker {
  addEventListener(type: 'push' | 'notificationclick', listener: (event: PushWorkerEvent) => void): void
  registration: ServiceWorkerRegistration
  navigator: { setAppBadge?(count: number): Promise<void> }
  clients: {
    matchAll(options: object): Promise<Array<{ url: string; focus(): Promise<unknown> }>>
    openWindow(url: string): Promise<unknown>
  }
}

const worker = globalThis as unknown as PushWorker

worker.addEventListener('push', (event) => {
  const { notification = {} } = (event.data?.json() ?? {}) as { notification?: Notice }
  const { title = '', navigate, app_badge: badge, data, ...shown } = notification
  const count = Number(badge)
  event.waitUntil(
    Promise.all([
      worker.registration.showNotification(title, { ...shown, data: { ...data, navigate } }),
      badge !== undefined && Number.isInteger(count) ? worker.navigator.setAppBadge?.(count) : undefined,
    ]),
  )
})

worker.addEventListener('notificationclick', (event) => {
  event.notification.close()
  const { navigate } = (event.notification.data ?? {}) as { navigate?: string }
  if (navigate === undefined) return
  const open = async () => {
    const windows = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
    const same = windows.find(({ url }) => url === navigate || new URL(url).origin === navigate)
    return same ? same.focus() : worker.clients.openWindow(navigate)
  }
  event.waitUntil(open())
})
