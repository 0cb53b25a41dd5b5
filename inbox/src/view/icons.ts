// Icons with one stroke, 24 by 24, inline so that nothing has to be loaded.
import { type Child, h } from './dom.ts'

const paths = {
  bell: 'M6 8a6 6 0 0 1 12 0c0 7 3 9 3 9H3s3-2 3-9M10.3 21a2 2 0 0 0 3.4 0',
  settings: 'M4 7h10M18 7h2M4 17h2M10 17h10M14 7a2 2 0 1 0 4 0 2 2 0 1 0-4 0M6 17a2 2 0 1 0 4 0 2 2 0 1 0-4 0',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  down: 'm6 9 6 6 6-6',
  back: 'M19 12H5M12 19l-7-7 7-7',
  close: 'M18 6 6 18M6 6l12 12',
  check: 'm5 12 5 5L20 7',
  read: 'M3 8.5 12 3l9 5.5V19a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1zM3.5 9l8.5 5.5L20.5 9',
  unread: 'M4 5h16a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1M3.5 6.5 12 13l8.5-6.5',
  archive: 'M3 4h18v4H3zM5 8v11a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1V8M10 12h4',
  unarchive: 'M3 4h18v4H3zM5 8v11a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1V8M12 17v-6M9.5 13.5 12 11l2.5 2.5',
  snooze: 'M12 7v5l3 2M12 3a9 9 0 1 1 0 18 9 9 0 1 1 0-18',
  delete: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  lock: 'M6 11h12a1 1 0 0 1 1 1v8H5v-8a1 1 0 0 1 1-1M8 11V8a4 4 0 0 1 8 0v3',
  search: 'M11 4a7 7 0 1 1 0 14 7 7 0 1 1 0-14M20 20l-4-4',
  offline:
    'M3 3l18 18M8.5 16.5a5 5 0 0 1 7 0M5 13a10 10 0 0 1 5-2.7M19 13a10 10 0 0 0-3-2M2 9.5A15 15 0 0 1 7 6.6M22 9.5A15 15 0 0 0 11 5M12 20h.01',
  error: 'M12 8v5M12 16.5h.01M12 3a9 9 0 1 1 0 18 9 9 0 1 1 0-18',
  up: 'M12 19V5M6 11l6-6 6 6',
  in_app: 'M6 8a6 6 0 0 1 12 0c0 7 3 9 3 9H3s3-2 3-9M10.3 21a2 2 0 0 0 3.4 0',
  email: 'M4 5h16a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1M3.5 6.5 12 13l8.5-6.5',
  sms: 'M4 4h16a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1H9l-5 4V5M8 10h.01M12 10h.01M16 10h.01',
  push: 'M8 2h8a1 1 0 0 1 1 1v18a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1M11 18h2',
  chat: 'M9 3 7 21M17 3l-2 18M4 8.5h17M3 15.5h17',
} as const

export type IconName = keyof typeof paths

export const icon = (name: IconName, own: Record<string, () => Node> = {}): Child =>
  own[name]?.() ??
  h(
    'svg',
    { class: `icon i-${name}`, viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' },
    h('path', { d: paths[name] }),
  )
