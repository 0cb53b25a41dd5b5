// The texts of the inbox. English is built in; other languages load on demand. A page can replace any text, using the keys
// of dictionaries for the public client.

export const english = {
  'inbox.bell': 'Notifications',
  'inbox.bell.unread': 'Notifications, {{count}} unread',
  'inbox.filters.labels.default': 'Inbox',
  'inbox.filters.labels.unread': 'Unread',
  'inbox.filters.labels.archived': 'Archived',
  'inbox.filters.labels.snoozed': 'Snoozed',
  'inbox.filters.choose': 'Show {{name}}',
  'inbox.tabs': 'Categories',
  'inbox.tabs.more': 'More categories',
  'inbox.settings': 'Preferences',
  'inbox.more': 'More actions',
  'inbox.back': 'Back',
  'inbox.close': 'Close',
  'inbox.offline': 'You’re offline. Reconnecting…',
  'inbox.error': 'Notifications could not be loaded',
  'inbox.error.hint': 'Something went wrong. Your notifications are safe.',
  'inbox.retry': 'Try again',
  'inbox.undo': 'Undo',
  'inbox.notSaved': 'That could not be saved. Nothing was changed.',
  'inbox.loading': 'Loading',
  'notifications.emptyNotice': 'You’re all caught up',
  'notifications.emptyHint': 'New notifications will show up here.',
  'notifications.empty.unread': 'Nothing left to read',
  'notifications.empty.archived': 'Nothing archived',
  'notifications.empty.snoozed': 'Nothing snoozed',
  'notifications.newNotifications': '{{notificationCount}} new',
  'notifications.actions.readAll': 'Mark all as read',
  'notifications.actions.archiveAll': 'Archive all',
  'notifications.actions.archiveRead': 'Archive read',
  'notification.actions.read.tooltip': 'Mark as read',
  'notification.actions.unread.tooltip': 'Mark as unread',
  'notification.actions.archive.tooltip': 'Archive',
  'notification.actions.unarchive.tooltip': 'Move to inbox',
  'notification.actions.snooze.tooltip': 'Snooze',
  'notification.actions.unsnooze.tooltip': 'Unsnooze',
  'notification.actions.delete.tooltip': 'Delete',
  'notification.unread': 'Unread',
  'notification.snoozedUntil': 'Snoozed until {{date}}',
  'notification.returned': 'Back from snooze',
  'notification.severity.high': 'High priority',
  'notification.severity.medium': 'Medium priority',
  'notification.severity.low': 'Low priority',
  'undo.archive': 'Archived',
  'undo.snooze': 'Snoozed',
  'undo.delete': 'Deleted',
  'undo.readAll': 'All marked as read',
  'undo.archiveAll': 'All archived',
  'undo.archiveRead': 'Read notifications archived',
  'undo.deleteAll': 'All deleted',
  'snooze.options.anHourFromNow': 'In an hour',
  'snooze.options.inOneDay': 'Tomorrow morning',
  'snooze.options.inOneWeek': 'Next week',
  'snooze.options.customTime': 'Pick a time',
  'snooze.datePicker.apply': 'Snooze',
  'snooze.datePicker.cancel': 'Cancel',
  'snooze.datePicker.pastDateTooltip': 'Pick a time at least 3 minutes from now',
  'snooze.datePicker.exceedingLimitTooltip': 'Pick a time within the next {{days}} days',
  'preferences.title': 'Preferences',
  'preferences.global': 'All notifications',
  'preferences.global.hint': 'Changes here apply to everything below.',
  'preferences.emptyNotice': 'No preferences to set yet',
  'preferences.search': 'Search',
  'preferences.noMatch': 'Nothing matches',
  'preferences.workflows': 'By type',
  'preferences.workflow.disabled.notice': 'Always on, because you would not want to miss it.',
  'preferences.channels.in_app': 'In-app',
  'preferences.channels.email': 'Email',
  'preferences.channels.sms': 'SMS',
  'preferences.channels.push': 'Push',
  'preferences.channels.chat': 'Chat',
  'preferences.channels.off': 'Off',
  'push.title': 'Push messages',
  'push.turnOn': 'Notify me on this device',
  'push.turnOff': 'Stop notifying me on this device',
  'push.blocked':
    'This browser blocks notifications of this page. Allow them in its settings, then open the page again.',
  'push.failed': 'That did not work. Please try again.',
  'push.dismiss': 'Not now',
  'preferences.schedule.title': 'Schedule',
  'preferences.schedule.description':
    'Only notify me during these hours. In-app and critical notifications always arrive.',
  'preferences.schedule.from': 'From',
  'preferences.schedule.to': 'To',
  'preferences.schedule.copyTimesTo': 'Copy to all days',
  'preferences.schedule.nextDay': 'next day',
  'preferences.schedule.timezone': 'Time zone',
  'preferences.schedule.useDevice': 'Use {{name}}, as on this device',
  'subscription.subscribe': 'Follow',
  'subscription.unsubscribe': 'Following',
  'connect.connect': 'Connect {{name}}',
  'connect.waiting': 'Waiting for {{name}}…',
  'connect.connected': 'Connected to {{name}}',
  'connect.disconnect': 'Disconnect',
} as const

export type TextKey = keyof typeof english
type Params = Record<string, string | number>
type Text = string | ((params: Params) => string)
export type Texts = Record<string, Text | Record<string, string>>

/** Languages that come with Belfry, besides English. */
export const languages = ['ar', 'de', 'es', 'fr', 'it', 'ja', 'nl', 'pt', 'zh'] as const

const loaded = new Map<string, Promise<Texts>>()

/** The closest language; undefined for English and for languages without a file. */
export const languageFor = (locale: string): string | undefined =>
  languages.find((language) => locale.toLowerCase().split(/[-_]/)[0] === language)

export function loadLanguage(backendUrl: string, language: string): Promise<Texts> {
  const url = `${backendUrl.replace(/\/+$/, '')}/inbox/${language}.json`
  const known = loaded.get(url)
  if (known) return known
  const loading = fetch(url).then((response) => {
    if (!response.ok) throw new Error(response.statusText)
    return response.json() as Promise<Texts>
  })
  loaded.set(url, loading)
  loading.catch(() => loaded.delete(url))
  return loading
}

/** From the first dictionary that has the key. */
export function translate(dictionaries: Array<Texts | undefined>, key: TextKey, params: Params = {}): string {
  for (const dictionary of [...dictionaries, english]) {
    const text = dictionary?.[key as keyof typeof dictionary] as Text | undefined
    if (typeof text === 'function') return text(params)
    if (typeof text === 'string') return fill(text, params)
  }
  return key
}

const fill = (text: string, params: Params) =>
  text.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) => String(params[name] ?? whole))

const rightToLeft = /^(ar|fa|he|ur|ps|sd|yi|dv|ku)\b/i
export const directionOf = (locale: string): 'rtl' | 'ltr' => (rightToLeft.test(locale) ? 'rtl' : 'ltr')
