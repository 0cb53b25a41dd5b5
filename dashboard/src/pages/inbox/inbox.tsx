// The way into the user's own product: the live inbox beside its settings, the code for a page, HMAC, and whether a browser has
// connected yet.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, LoaderCircle, Send, ShieldAlert, ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { useCan, useSession } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { environments, type InboxAccess } from '../../api/environments.ts'
import { integrations } from '../../api/integrations.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { Loaded, Skeleton } from '../../ui/base/states.tsx'
import { Time } from '../../ui/base/time.tsx'
import { ChosenCode } from '../../ui/code/code-block.tsx'
import { sendFirst } from '../../ui/domain/first-sends.ts'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'
import { oneOf, text, useUrlState } from '../../ui/list/url-state.ts'
import {
  frameworks,
  type HashLanguage,
  hashCode,
  hashLanguages,
  type InboxSettings,
  installCode,
  type Place,
} from './install.ts'
import { LiveInbox } from './live-inbox.tsx'

const languages = [
  { value: 'page', label: 'Language of the page' },
  { value: 'en', label: 'English' },
  { value: 'ar', label: 'Arabic' },
  { value: 'zh', label: 'Chinese' },
  { value: 'nl', label: 'Dutch' },
  { value: 'fr', label: 'French' },
  { value: 'de', label: 'German' },
  { value: 'it', label: 'Italian' },
  { value: 'ja', label: 'Japanese' },
  { value: 'pt', label: 'Portuguese' },
  { value: 'es', label: 'Spanish' },
]
const placements = [
  { value: 'bottom-end', label: 'Below, at the end' },
  { value: 'bottom-start', label: 'Below, at the start' },
  { value: 'top-end', label: 'Above, at the end' },
  { value: 'top-start', label: 'Above, at the start' },
] as const

const schema = {
  theme: oneOf(['system', 'light', 'dark'], 'system'),
  placement: oneOf(['bottom-end', 'bottom-start', 'top-end', 'top-start'], 'bottom-end'),
  locale: text('page'),
  tabs: text(),
  code: oneOf(['html', 'react', 'vue', 'next', 'novu-js', 'novu-react'], 'html'),
}

export function Page() {
  const environment = useEnvironment()
  const [state, setState] = useUrlState(schema)
  const access = useQuery({
    ...environments.inboxAccess(environment._id),
    refetchInterval: ({ state: { data } }) => (data?.connection === null ? 1_500 : 10_000),
  })
  const settings: InboxSettings = {
    theme: state.theme,
    placement: state.placement,
    locale: state.locale === 'page' ? '' : state.locale,
    tabs: state.tabs
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  }
  const place: Place = {
    origin: window.location.origin,
    applicationIdentifier: environment.identifier,
    requiresHash: access.data?.requiresHash ?? false,
  }
  return (
    <Frame
      title="Inbox"
      width="content"
      description="A bell for your own product. Copy the code into a page; it needs no framework and no build."
    >
      <Loaded query={access} skeleton={<Skeleton className="h-96" />}>
        {(found) => (
          <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_440px]">
            <div className="min-w-0 space-y-8 max-lg:order-2">
              <Connection access={found} name={environment.name} />
              <section>
                <h2 className="text-base font-semibold">Put it into your page</h2>
                <p className="mt-0.5 mb-3 text-sm text-pretty text-muted">
                  <code>SUBSCRIBER_ID</code> is the id by which your program knows the person who is signed in, the same
                  as in your triggers.
                </p>
                <ChosenCode
                  label="Framework"
                  options={frameworks}
                  value={state.code}
                  onValue={(code) => setState({ code })}
                  code={installCode(state.code, settings, place)}
                  maxHeight={480}
                />
                <p className="mt-3 text-sm text-pretty text-muted">
                  See it work with buttons that send messages in{' '}
                  <a href="/demo" className="font-medium text-ink underline underline-offset-2">
                    the demo
                  </a>
                  . What browsers may do here is in the{' '}
                  <Link to="/settings" className="font-medium text-ink underline underline-offset-2">
                    settings
                  </Link>
                  .
                </p>
              </section>
              <Hashes requiresHash={found.requiresHash} name={environment.name} />
            </div>
            <div className="min-w-0 space-y-4 lg:sticky lg:top-6">
              <section aria-label="Preview" className="space-y-3">
                <LiveInbox settings={settings} place={place} />
                <SendOne />
              </section>
              <section aria-label="Settings" className="grid grid-cols-2 gap-x-3 gap-y-3">
                <FieldFrame label="Theme">
                  {() => (
                    <Segments
                      label="Theme"
                      value={state.theme}
                      onValue={(theme) => setState({ theme })}
                      options={[
                        { value: 'system', label: 'System' },
                        { value: 'light', label: 'Light' },
                        { value: 'dark', label: 'Dark' },
                      ]}
                    />
                  )}
                </FieldFrame>
                <FieldFrame label="Position">
                  {(control) => (
                    <Select
                      {...control}
                      value={state.placement}
                      onValue={(placement) => setState({ placement })}
                      options={placements}
                    />
                  )}
                </FieldFrame>
                <FieldFrame label="Language">
                  {(control) => (
                    <Select
                      {...control}
                      value={state.locale}
                      onValue={(locale) => setState({ locale })}
                      options={languages}
                    />
                  )}
                </FieldFrame>
                <FieldFrame label="Tabs, by tag" optional>
                  {(control) => (
                    <Input
                      {...control}
                      value={state.tabs}
                      onValue={(tabs) => setState({ tabs })}
                      placeholder="comments, alerts"
                    />
                  )}
                </FieldFrame>
              </section>
            </div>
          </div>
        )}
      </Loaded>
    </Frame>
  )
}

function Connection({ access, name }: { access: InboxAccess; name: string }) {
  const { connection } = access
  return (
    <div
      role="status"
      className={`flex items-center gap-2.5 rounded-surface border px-3 py-2.5 text-sm ${connection ? 'border-good/30 bg-good/8' : 'bg-raised'}`}
    >
      {connection ? (
        <>
          <CircleCheck className="size-4 shrink-0 text-good" aria-hidden />
          <p className="min-w-0 break-words">
            <strong className="font-medium">Connected.</strong> {connection.origin ?? 'A page'} opened an inbox of{' '}
            {name} <Time at={connection.at} />.
          </p>
        </>
      ) : (
        <>
          <LoaderCircle className="size-4 shrink-0 animate-spin text-muted" aria-hidden />
          <p className="min-w-0">
            <strong className="font-medium">Waiting for your first connection…</strong>{' '}
            <span className="text-muted">Open your page; this turns green by itself.</span>
          </p>
        </>
      )}
    </div>
  )
}

/** Sends the preview a message, so that there is something to see. */
function SendOne() {
  const { user } = useSession()
  const canSend = useCan('editor')
  const send = useAction({
    do: () =>
      sendFirst('in_app', {
        subscriberId: `start-${user.email.split('@', 1)[0]}`,
        firstName: user.name.split(' ', 1)[0] ?? user.name,
        email: user.email,
        phone: '+12025550143',
      }),
    refresh: ['runs', 'workflows', 'subscribers'],
  })
  if (!canSend) return null
  return (
    <Button icon={<Send />} pending={send.isPending} onClick={() => send.mutate()}>
      Send a message into it
    </Button>
  )
}

function Hashes({ requiresHash, name }: { requiresHash: boolean; name: string }) {
  const [language, setLanguage] = useState<HashLanguage>('node')
  const { data } = useQuery(integrations.list())
  const inApp = data?.find(({ channel }) => channel === 'in_app')
  const Icon = requiresHash ? ShieldCheck : ShieldAlert
  return (
    <section>
      <h2 className="text-base font-semibold">Let only your backend open inboxes (HMAC)</h2>
      <p className="mt-1 mb-3 flex gap-2 text-sm text-pretty text-muted">
        <Icon className={`mt-0.5 size-4 shrink-0 ${requiresHash ? 'text-good' : 'text-warn'}`} aria-hidden />
        <span>
          {requiresHash
            ? `On in ${name}: your page needs SUBSCRIBER_HASH, which your backend makes.`
            : `Off in ${name}: anybody who knows a subscriber id can open that inbox. Turn it on before you go live, in the `}
          {!requiresHash && inApp && (
            <Link
              to="/integrations/{-$integrationId}"
              params={{ integrationId: inApp._id }}
              className="font-medium text-ink underline underline-offset-2"
            >
              in-app integration
            </Link>
          )}
          {!requiresHash && '.'} The secret for <code>BELFRY_INBOX_SECRET</code> is under{' '}
          <Link to="/api-keys" className="font-medium text-ink underline underline-offset-2">
            API keys
          </Link>
          ; keep it on your servers.
        </span>
      </p>
      <ChosenCode
        label="Language"
        options={hashLanguages}
        value={language}
        onValue={setLanguage}
        code={hashCode[language]}
        maxHeight={420}
      />
    </section>
  )
}
