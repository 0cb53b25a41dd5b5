// The page at /demo: buttons that trigger workflows beside the inbox of the subscriber they are for.
import { type Child, h, patch } from './view/dom.ts'

interface DemoWorkflow {
  identifier: string
  name: string
  description: string
  tags: string[]
  payload: Record<string, string>
}
interface Demo {
  applicationIdentifier: string
  subscriberId: string
  subscriberHash: string
  workflows: DemoWorkflow[]
}
interface Mail {
  id: string
  subject: string | null
  to: string[]
  createdAt: string
}

const state = {
  demo: undefined as Demo | undefined,
  /** The service's error message, if loading failed. */
  problem: '',
  sending: new Set<string>(),
  /** How many times each was sent since the page was opened. */
  sent: new Map<string, number>(),
  /** What the last arrival was, and how long it took. */
  arrived: '',
  arrivedId: '',
  triggeredAt: undefined as number | undefined,
  shown: '',
  mails: [] as Mail[],
}

/** Relative to this page, so that it works under a proxy's path prefix. */
const base = new URL('.', location.href)

async function ask<T>(method: 'GET' | 'POST', path: string): Promise<T> {
  const answer = await fetch(new URL(path, base), {
    method,
    // A page of another site could not send this header.
    headers: { 'Belfry-Environment': '', ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}) },
    ...(method === 'POST' ? { body: '{}' } : {}),
  })
  const body = (await answer.json()) as T & { message?: string }
  if (!answer.ok) throw new Error(body.message ?? `The service answered ${answer.status}.`)
  return body
}

async function send(workflow: DemoWorkflow): Promise<void> {
  const { identifier } = workflow
  state.shown = identifier
  state.sending.add(identifier)
  state.problem = ''
  state.triggeredAt = performance.now()
  draw()
  try {
    await ask('POST', `v1/demo/${identifier}`)
    state.sent.set(identifier, (state.sent.get(identifier) ?? 0) + 1)
  } catch (error) {
    state.problem = (error as Error).message
  }
  state.sending.delete(identifier)
  draw()
  if (identifier === 'demo-invitation') await lookForMail()
}

/** The trigger is answered before the email is sent, so poll a few times. */
async function lookForMail(): Promise<void> {
  const before = state.mails[0]?.id
  for (const waitMs of [100, 200, 400, 800, 1500, 2500, 4000, 6000]) {
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    state.mails = await ask<Mail[]>('GET', 'v1/demo/mails')
    draw()
    if (state.mails[0]?.id !== before) return
  }
}

const row = (workflow: DemoWorkflow): Child => {
  const { identifier, name, description } = workflow
  const count = state.sent.get(identifier) ?? 0
  const isSending = state.sending.has(identifier)
  return h('li', { key: identifier, class: 'row' }, [
    h('span', { class: `mark ${identifier}`, 'aria-hidden': 'true' }),
    h('div', { class: 'about' }, [
      h('h3', null, name),
      h('p', null, description),
      h('code', { class: 'id' }, identifier),
    ]),
    h('span', { class: 'count', role: 'status' }, count === 0 ? '' : `${count} sent`),
    h(
      'button',
      {
        type: 'button',
        'data-workflow': identifier,
        'aria-label': `Send: ${name}`,
        'aria-busy': String(isSending),
        disabled: isSending,
        onClick: () => void send(workflow),
      },
      isSending ? 'Sending…' : 'Send',
    ),
  ])
}

function command({ identifier, payload }: DemoWorkflow): string {
  const members = Object.entries({ name: identifier, to: { subscriberId: state.demo?.subscriberId }, payload })
  const body = members.map(([name, value]) => `    "${name}": ${JSON.stringify(value)}`).join(',\n')
  return [
    `curl ${new URL('v1/events/trigger', base).href} \\`,
    "  -H 'Authorization: ApiKey <your key>' \\",
    "  -H 'Content-Type: application/json' \\",
    `  -d '{\n${body.replaceAll("'", "'\\''")}\n  }'`,
  ].join('\n')
}

const mail = ({ id, subject, to, createdAt }: Mail): Child =>
  h('li', { key: id, class: 'mail' }, [
    h('strong', null, subject ?? ''),
    h('span', null, `to ${to.join(', ')}`),
    h(
      'time',
      { datetime: createdAt },
      new Date(createdAt).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }),
    ),
  ])

/** Called by the inbox itself, through its socket: nothing here polls. */
function noteArrival(event: Event): void {
  const { id, subject, body } = (event as CustomEvent<{ id: string; subject?: string; body: string }>).detail
  // Both elements of this page say so.
  if (id === state.arrivedId) return
  state.arrivedId = id
  const words = (subject ?? body).replaceAll('*', '')
  const tookMs = state.triggeredAt === undefined ? undefined : Math.round(performance.now() - state.triggeredAt)
  state.arrived = tookMs === undefined ? `Arrived: ${words}` : `Arrived after ${took(tookMs)}: ${words}`
  state.triggeredAt = undefined
  draw()
}

const took = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)

/** What makes the inbox of this page. */
function ownCode({ applicationIdentifier, subscriberId }: Demo): string {
  return [
    `<script src="${new URL('inbox.js', base).href}" async></script>`,
    '',
    '<belfry-inbox',
    `  application-identifier="${applicationIdentifier}"`,
    `  subscriber-id="${subscriberId}"`,
    '></belfry-inbox>',
  ].join('\n')
}

function senders(demo: Demo): Child[] {
  const { workflows } = demo
  const shown = workflows.find(({ identifier }) => identifier === state.shown) ?? workflows[0]
  return [
    h('h2', null, 'Send something'),
    h('ul', { class: 'rows' }, workflows.map(row)),
    state.problem !== '' && h('p', { class: 'problem', role: 'alert' }, state.problem),
    h('p', { class: 'arrived', role: 'status' }, state.arrived),
    h('h2', null, 'The code of this inbox'),
    h('pre', { tabindex: '0', 'aria-label': 'The code of this inbox' }, ownCode(demo)),
    h('h2', null, 'What your program would send'),
    h('pre', { tabindex: '0', 'aria-label': 'The request as a command' }, shown ? command(shown) : ''),
    h('h2', null, 'Emails in the sandbox'),
    state.mails.length === 0
      ? h(
          'p',
          { class: 'empty' },
          'None yet. An invitation is also sent by email; in Development it goes to the sandbox only.',
        )
      : h('ul', { class: 'mails' }, state.mails.map(mail)),
  ]
}

const tabs = JSON.stringify([
  { label: 'All', filter: {} },
  { label: 'Comments', filter: { tags: ['comments'] } },
  { label: 'Alerts', filter: { tags: ['alerts'] } },
])

function inboxOf({ applicationIdentifier, subscriberId, subscriberHash }: Demo, tag: string, more = {}): Child {
  return h(tag, {
    'application-identifier': applicationIdentifier,
    'subscriber-id': subscriberId,
    'subscriber-hash': subscriberHash,
    'backend-url': base.href.replace(/\/$/, ''),
    ...more,
  })
}

function draw(): void {
  const { demo } = state
  patch(document.body, [
    h('header', { key: 'header' }, [
      h('h1', null, 'Belfry demo'),
      h('p', null, 'Everything here is real: triggers, workflows, the inbox. It happens in Development.'),
      h('a', { href: new URL('inbox', base).href }, 'Code for your page'),
      h('a', { href: base.href }, 'Dashboard'),
      demo ? inboxOf(demo, 'belfry-inbox') : null,
    ]),
    h('main', { key: 'main' }, [
      demo
        ? h('section', { key: 'senders' }, ...senders(demo))
        : h('p', { class: state.problem === '' ? 'empty' : 'problem', role: 'alert' }, state.problem || 'One moment…'),
      demo
        ? h('section', { key: 'inbox', class: 'inbox', 'aria-label': "Ada's inbox" }, [
            h('h2', null, "Ada's inbox"),
            h('div', { class: 'frame' }, inboxOf(demo, 'belfry-notifications', { tabs, 'show-arrivals': '' })),
          ])
        : null,
    ]),
  ])
}

const styles = new CSSStyleSheet()
styles.replaceSync(`
  :root {
    --back: #ffffff; --raised: #fafafa; --sunken: #f4f4f5; --text: #18181b; --muted: #52525b; --faint: #71717a;
    --line: #e4e4e7; --accent: #b45309; --on-accent: #ffffff; --bad: #b91c1c;
    --comment: #1d4ed8; --invitation: #15803d; --alert: #b91c1c; --digest: #a16207;
    color-scheme: light dark;
  }
  @media (prefers-color-scheme: dark) {
    :root {
      --back: #0c0c0e; --raised: #141417; --sunken: #09090a; --text: #f4f4f5; --muted: #a1a1aa; --faint: #8e8e98;
      --line: #26262b; --accent: #f59e0b; --on-accent: #1c1206; --bad: #f87171;
      --comment: #60a5fa; --invitation: #4ade80; --alert: #f87171; --digest: #facc15;
    }
  }
  * { box-sizing: border-box; margin: 0 }
  body { background: var(--back); color: var(--text); font: 14px/20px Inter, system-ui, sans-serif }
  header { display: flex; align-items: center; gap: 12px; padding: 12px 24px; border-bottom: 1px solid var(--line) }
  header p { color: var(--muted); flex: 1 }
  h1 { font-size: 16px; font-weight: 600; white-space: nowrap }
  h2 { font-size: 13px; font-weight: 600; color: var(--muted); margin: 24px 0 8px }
  h3 { font-size: 14px; font-weight: 500 }
  main { display: grid; grid-template-columns: minmax(0, 1fr) 400px; gap: 32px; max-width: 1200px; margin: 0 auto;
    padding: 0 24px 48px }
  ul { list-style: none; padding: 0 }
  .rows, .mails { border: 1px solid var(--line); border-radius: 8px; background: var(--raised) }
  .row { display: flex; align-items: center; gap: 12px; padding: 12px 16px }
  li + li { border-top: 1px solid var(--line) }
  .about { flex: 1; min-width: 0 }
  .about p { color: var(--muted) }
  .id { color: var(--faint); font: 12px/20px ui-monospace, monospace }
  .mark { width: 8px; height: 8px; border-radius: 50%; flex: none; align-self: start; margin-top: 6px }
  .demo-comment { background: var(--comment) } .demo-invitation { background: var(--invitation) }
  .demo-alert { background: var(--alert) } .demo-digest { background: var(--digest) }
  .count { color: var(--muted); font-size: 12px; font-variant-numeric: tabular-nums; white-space: nowrap }
  button { min-width: 76px; height: 32px; border: 0; border-radius: 6px; background: var(--accent); color: var(--on-accent);
    font: inherit; font-weight: 500; cursor: pointer; transition: opacity 120ms ease-out }
  button:hover { opacity: 0.9 } button:disabled { opacity: 0.6; cursor: default }
  :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
  pre { background: var(--sunken); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; overflow-x: auto;
    font: 12.5px/20px ui-monospace, monospace }
  .mail { display: flex; gap: 8px; padding: 10px 16px } .mail strong { font-weight: 500 }
  .mail span { flex: 1; color: var(--muted) } time { color: var(--faint); font-variant-numeric: tabular-nums }
  header a { color: var(--text); font-weight: 500; text-underline-offset: 2px; white-space: nowrap }
  .arrived { min-height: 20px; margin-top: 8px; color: var(--invitation) }
  .empty { color: var(--muted) } .problem { color: var(--bad); margin: 12px 0 }
  .frame { border: 1px solid var(--line); border-radius: 8px; overflow: hidden; height: 600px }
  .frame > * { display: block; height: 100% }
  @media (max-width: 900px) { main { grid-template-columns: minmax(0, 1fr) } .inbox { order: -1 } .frame { height: 420px }
    header p { display: none } h1 { flex: 1 } }
  @media (max-width: 480px) { main { padding: 0 16px 32px } header { padding: 12px 16px } }
  @media (prefers-reduced-motion: reduce) { * { transition: none !important } }
`)
document.adoptedStyleSheets = [styles]
document.addEventListener('belfry-received', noteArrival)

async function start(): Promise<void> {
  draw()
  try {
    state.demo = await ask<Demo>('POST', 'v1/demo')
    state.mails = await ask<Mail[]>('GET', 'v1/demo/mails')
  } catch (error) {
    state.problem = (error as Error).message
  }
  draw()
}
void start()
