// A plausible site with a filled inbox, for screenshots and for axe.
import { makeWorkflow, type Step, trigger } from '../../server/test/runs.ts'
import type { Api, TestServer } from '../../server/test/server.ts'

const inApp = (controlValues: object): Step => ({ type: 'in_app', controlValues })
const email: Step = { type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }
const push: Step = { type: 'push', controlValues: { subject: 'Hi', body: 'Hello' } }
const critical = { preferences: { user: null, workflow: { all: { enabled: true, readOnly: true } } } }

export const face = (skin: string, hair: string, back: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 72 72"><rect width="72" height="72" fill="${back}"/>
   <path d="M16 72c0-14 8-21 20-21s20 7 20 21z" fill="#fff" opacity=".9"/><rect x="30" y="42" width="12" height="14" rx="6" fill="${skin}"/>
   <circle cx="36" cy="32" r="14" fill="${skin}"/><path d="M20 33c-2-14 6-21 16-21s18 7 16 21c-3-8-8-11-16-11s-13 3-16 11z" fill="${hair}"/></svg>`

interface Story {
  workflow: string
  name: string
  steps: Step[]
  /** Minutes before now. */
  minutesAgo: number
  isRead?: boolean
  more?: object
}

/** Oldest first. */
export function stories(origin: string): Story[] {
  const from = (name: string) => ({ avatar: `${origin}/${name}.svg` })
  return [
    {
      ...{ workflow: 'sign-in', name: 'Sign-in alerts', minutesAgo: 3 * 1440, isRead: true, more: critical },
      steps: [
        inApp({
          subject: 'New sign-in from Lisbon, Portugal',
          body: 'Firefox on macOS. If this was you, there is nothing to do.',
        }),
        email,
      ],
    },
    {
      ...{
        workflow: 'weekly-digest',
        name: 'Weekly digest',
        minutesAgo: 1500,
        isRead: true,
        more: { tags: ['digest'] },
      },
      steps: [
        inApp({
          subject: '12 updates in **Roadmap 2026** 📈',
          body: 'Most discussed: *Offline mode*, *Usage-based pricing* and 4 more.',
        }),
        email,
      ],
    },
    {
      ...{ workflow: 'invitation', name: 'Invitations', minutesAgo: 190, isRead: true, more: { tags: ['mention'] } },
      steps: [
        inApp({
          ...from('marcus'),
          subject: '**Marcus Oyelaran-Fitzgerald** invited you to **Design Systems Guild & Friends of Accessibility**',
          body: 'A monthly hour for everyone who cares about tokens, contrast and focus rings.',
          primaryAction: { label: 'Accept' },
          secondaryAction: { label: 'Decline' },
        }),
        email,
      ],
    },
    {
      ...{
        workflow: 'deployment',
        name: 'Deployments',
        minutesAgo: 42,
        more: { severity: 'low', tags: ['deployment'] },
      },
      steps: [
        inApp({
          subject: 'Deployed to production 🚀',
          body: '`web@4.12.0` is live in **3 regions** after 2 min 14 s. See [the log](https://status.example.com/d/4120).',
        }),
        push,
      ],
    },
    {
      ...{
        workflow: 'payment-failed',
        name: 'Billing problems',
        minutesAgo: 11,
        more: { severity: 'high', tags: ['billing'] },
      },
      steps: [
        inApp({
          subject: 'Payment failed for invoice INV-2041',
          body: 'The card ending in **4242** was declined. Update it before **May 8** to keep `acme-production` running.',
          primaryAction: { label: 'Update card', redirect: { url: '/billing', target: '_self' } },
          secondaryAction: { label: 'Contact support' },
        }),
        email,
        push,
      ],
    },
    {
      ...{ workflow: 'mention', name: 'Mentions and replies', minutesAgo: 2, more: { tags: ['mention'] } },
      steps: [
        inApp({
          ...from('priya'),
          subject: '**Priya Raman** mentioned you in **Q3 pricing review**',
          body: '“@Ada can you confirm the grandfathered tier before we publish? Legal wants an answer by Friday 🙏”',
          redirect: { url: '/docs/pricing', target: '_self' },
        }),
        email,
        push,
      ],
    },
  ]
}

/** The same in Arabic, for a right-to-left page. */
export const arabicStories = (origin: string): Story[] => [
  {
    ...{ workflow: 'digest', name: 'الملخص الأسبوعي', minutesAgo: 1500, isRead: true },
    steps: [
      inApp({
        subject: '12 تحديثًا في **خارطة طريق 2026** 📈',
        body: 'الأكثر نقاشًا: *وضع عدم الاتصال* و*التسعير حسب الاستخدام*.',
      }),
    ],
  },
  {
    ...{ workflow: 'deployment', name: 'عمليات النشر', minutesAgo: 42, more: { tags: ['deployment'] } },
    steps: [
      inApp({
        subject: 'اكتمل النشر إلى بيئة الإنتاج 🚀',
        body: 'أصبح الإصدار `web@4.12.0` متاحًا في **3 مناطق** بعد دقيقتين.',
      }),
    ],
  },
  {
    ...{ workflow: 'payment-failed', name: 'الفوترة', minutesAgo: 11, more: { severity: 'high', tags: ['billing'] } },
    steps: [
      inApp({
        subject: 'تعذّر دفع الفاتورة INV-2041',
        body: 'رُفضت البطاقة المنتهية بالرقم **4242**. حدّثها قبل **8 مايو** حتى لا تتوقف الخدمة.',
        primaryAction: { label: 'تحديث البطاقة' },
        secondaryAction: { label: 'تواصل مع الدعم' },
      }),
    ],
  },
  {
    ...{ workflow: 'mention', name: 'الإشارات', minutesAgo: 2, more: { tags: ['mention'] } },
    steps: [
      inApp({
        avatar: `${origin}/priya.svg`,
        subject: '**بريا رامان** أشارت إليك في **مراجعة الأسعار**',
        body: '«هل يمكنك تأكيد الفئة القديمة قبل النشر؟ يريد الفريق القانوني ردًا قبل يوم الجمعة 🙏»',
      }),
    ],
  },
]

/** Triggers each story at its time, and ends at the present. */
export async function tell(server: TestServer, api: Api, all: Story[]): Promise<void> {
  for (const { workflow, name, steps, more } of all) await makeWorkflow(api, workflow, steps, { name, ...more })
  let ago = Math.max(...all.map(({ minutesAgo }) => minutesAgo))
  for (const { workflow, minutesAgo } of all) {
    server.clock.advance({ minutes: ago - minutesAgo })
    ago = minutesAgo
    await trigger(api, workflow, 'ada')
    await server.drain()
  }
  server.clock.advance({ minutes: ago })
}

export const tabs = (labels: string[]) =>
  JSON.stringify(
    labels.map((label, index) => ({
      label,
      ...(index === 0 ? {} : { filter: { tags: [['mention'], ['deployment'], ['billing'], ['digest']][index - 1] } }),
    })),
  )

/** The page around the inbox: enough to see that it fits in. */
export const host = (words: { app: string; nav: string[]; title: string; rows: string[] }) => `
  <div class="top"><b>${words.app}</b>${words.nav.map((word, index) => `<a class="${index === 0 ? 'on' : ''}">${word}</a>`).join('')}
    <span class="fill"></span><belfry-inbox {settings}></belfry-inbox><span class="me"></span></div>
  <main><h1>${words.title}</h1><div class="board">${words.rows
    .map((row, index) => `<div class="line"><i class="c${index % 3}"></i><span>${row}</span><em></em><u></u></div>`)
    .join('')}</div></main>`

export const hostStyles = `<style>
  :root { color-scheme: light dark; font: 14px/20px Inter, system-ui, sans-serif; background: light-dark(#f7f7f8, #0c0c0e); color: light-dark(#18181b, #f4f4f5); }
  body { margin: 0; }
  .top { display: flex; align-items: center; gap: 22px; height: 56px; padding: 0 24px; background: light-dark(#fff, #101013); border-bottom: 1px solid light-dark(#e4e4e7, #26262b); }
  .top b { font-size: 15px; letter-spacing: -.02em; margin-inline-end: 8px; }
  .top a { color: light-dark(#71717a, #a1a1aa); } .top a.on { color: inherit; font-weight: 500; }
  .fill { flex: 1; } .me { width: 30px; height: 30px; border-radius: 50%; background: #c2621a; margin-inline-start: -12px; }
  main { padding: 28px 24px; } h1 { margin: 0 0 18px; font-size: 20px; letter-spacing: -.02em; }
  .board { border: 1px solid light-dark(#e4e4e7, #26262b); border-radius: 10px; background: light-dark(#fff, #101013); }
  .line { display: flex; align-items: center; gap: 12px; height: 48px; padding: 0 16px; } .line + .line { border-top: 1px solid light-dark(#efeff1, #1c1c20); }
  .line i { width: 9px; height: 9px; border-radius: 50%; } .c0 { background: #22c55e; } .c1 { background: #f59e0b; } .c2 { background: #a1a1aa; }
  .line em { flex: 1; } .line u { width: 64px; height: 8px; border-radius: 4px; background: light-dark(#ececef, #232328); text-decoration: none; }
</style>`
