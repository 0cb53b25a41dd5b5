// What the browsers of subscribers may do in the environment, and the end of their sessions.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { LogOut, ShieldAlert, ShieldCheck } from 'lucide-react'
import { toast } from 'sonner'
import { useAction } from '../../api/cache.ts'
import { environments, type InboxAccess } from '../../api/environments.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { OpenTopicsWarning } from '../../shell/open-topics.tsx'
import { Button } from '../../ui/base/button.tsx'
import { Loaded } from '../../ui/base/states.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Checkbox, Switch } from '../../ui/form/switch.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'

const fields = [
  ['firstName', 'First name'],
  ['lastName', 'Last name'],
  ['email', 'Email'],
  ['phone', 'Phone'],
  ['avatar', 'Avatar'],
  ['locale', 'Locale'],
  ['timezone', 'Time zone'],
  ['data', 'Data'],
] as const

export function InboxSettings({ canChange }: { canChange: boolean }) {
  const environment = useEnvironment()
  const query = useQuery(environments.inboxAccess(environment._id))
  return (
    <Loaded query={query}>
      {(access) => (
        <div className="max-w-140 space-y-5">
          <HashStatus access={access} name={environment.name} />
          <Choices access={access} environmentId={environment._id} canChange={canChange} />
          {canChange && <Sessions environmentId={environment._id} name={environment.name} />}
        </div>
      )}
    </Loaded>
  )
}

function HashStatus({ access, name }: { access: InboxAccess; name: string }) {
  const Icon = access.requiresHash ? ShieldCheck : ShieldAlert
  return (
    <div
      className={`flex gap-2.5 rounded-surface border px-3 py-2.5 text-sm ${access.requiresHash ? '' : 'border-warn/30 bg-warn/8'}`}
    >
      <Icon className={`mt-0.5 size-4 shrink-0 ${access.requiresHash ? 'text-good' : 'text-warn'}`} aria-hidden />
      <p>
        {access.requiresHash ? (
          <>HMAC is on: an inbox opens only with a hash of the subscriber id, which your backend makes.</>
        ) : (
          <>
            <strong className="font-medium">HMAC is off.</strong> Anybody who knows a subscriber id can open that inbox
            in {name}, read it, and change its preferences. Turn it on before you go live, in the{' '}
            <Link to="/integrations/{-$integrationId}" params={{ integrationId: undefined }} className="underline">
              in-app integration
            </Link>
            .
          </>
        )}
      </p>
    </div>
  )
}

interface ChoicesProps {
  access: InboxAccess
  environmentId: string
  canChange: boolean
}

function Choices({ access, environmentId, canChange }: ChoicesProps) {
  const change = useAction({
    do: (body: Parameters<typeof environments.changeInboxAccess>[1]) =>
      environments.changeInboxAccess(environmentId, body),
    refresh: ['environments'],
    done: 'Saved',
  })
  const isOff = !canChange || change.isPending
  const isOpen = access.openTopics ?? access.usual.openTopics
  const allowed = access.profileFields ?? access.usual.profileFields
  const without = (name: string) => allowed.filter((one) => one !== name)
  const choose = (name: string, isOn: boolean) =>
    change.mutate({ profileFields: (isOn ? [...without(name), name] : without(name)) as FieldName[] })
  return (
    <>
      {isOpen ? (
        <OpenTopicsWarning className="rounded-surface border border-warn/30 px-3" />
      ) : (
        <FieldFrame
          label="Topics open to browsers"
          hint="Off: a page joins only topics that are joinable from a browser, and creates none."
          inline
        >
          {(control) => (
            <Switch {...control} value={false} onValue={() => change.mutate({ openTopics: true })} disabled={isOff} />
          )}
        </FieldFrame>
      )}
      <fieldset>
        <legend className="text-sm font-medium">Profile fields that pages may write</legend>
        <p className="mt-1 text-xs text-muted">
          A page can be made to send anything. What messages rely on, such as addresses, should come from your backend.
          {access.profileFields === null
            ? access.requiresHash
              ? ' Usual with HMAC: locale and time zone.'
              : ' Usual without HMAC: all fields, of new subscribers only.'
            : ''}
        </p>
        <div className="mt-2 grid grid-cols-2 gap-2 sm:grid-cols-4">
          {fields.map(([name, label]) => (
            <FieldFrame key={name} label={label} inline>
              {(control) => (
                <Checkbox
                  {...control}
                  value={allowed.includes(name)}
                  onValue={(isOn) => choose(name, isOn)}
                  disabled={isOff}
                />
              )}
            </FieldFrame>
          ))}
        </div>
        {canChange && access.profileFields !== null && (
          <Button size="sm" className="mt-2" disabled={isOff} onClick={() => change.mutate({ profileFields: null })}>
            Use the usual fields
          </Button>
        )}
      </fieldset>
    </>
  )
}

type FieldName = (typeof fields)[number][0]

function Sessions({ environmentId, name }: { environmentId: string; name: string }) {
  const ask = useConfirm()
  const end = useAction({
    do: async ({ title, endAll }: { title: string; endAll: () => Promise<unknown> }) => {
      const yes = await ask({
        title,
        body: 'Tokens that pages hold are refused at once. Pages start new sessions when they are loaded again.',
        confirm: 'End sessions',
      })
      if (yes) await endAll()
      return yes
    },
    onDone: (isDone) => isDone && toast.success('Inbox sessions ended'),
  })
  return (
    <div>
      <h3 className="text-sm font-medium">Inbox sessions</h3>
      <p className="mt-1 text-xs text-muted">
        End them when tokens may have leaked. For one person, use the menu of the subscriber.
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button
          icon={<LogOut />}
          pending={end.isPending}
          onClick={() =>
            end.mutate({
              title: `End all inbox sessions of ${name}?`,
              endAll: () => environments.endInboxSessions(environmentId),
            })
          }
        >
          End all of {name}
        </Button>
        <Button
          icon={<LogOut />}
          pending={end.isPending}
          onClick={() =>
            end.mutate({
              title: 'End all inbox sessions of all environments?',
              endAll: () => environments.endAllInboxSessions(),
            })
          }
        >
          End all of all environments
        </Button>
      </div>
    </div>
  )
}
