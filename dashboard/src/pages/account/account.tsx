import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Laptop, LogOut, Monitor, Moon, Sun } from 'lucide-react'
import { auth, useSession } from '../../api/auth.ts'
import { cache, useAction } from '../../api/cache.ts'
import type { Answer } from '../../api/client.ts'
import { setTheme, useTheme } from '../../shell/theme.ts'
import { Button } from '../../ui/base/button.tsx'
import { Loaded } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { Field, FieldFrame, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { PasswordField } from '../../ui/form/password-field.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Page as Frame, Section } from '../../ui/frame/page.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'
import { flag, useUrlState } from '../../ui/list/url-state.ts'

export function Page() {
  const { user } = useSession()
  const theme = useTheme()
  const [{ linked }] = useUrlState({ linked: flag() })
  return (
    <Frame title="Your account" width="content">
      {linked && (
        <p role="status" className="mb-4 rounded-surface border border-warn/30 bg-warn/8 px-3 py-2 text-sm">
          You signed in with your identity provider for the first time. The password and the sessions that this account
          had before have ended, because somebody else could have made them. If you never set a password here, tell an
          owner: the invitation may have been used by another person.
        </p>
      )}
      <Section title="Profile" description="Your name as your colleagues see it.">
        <Profile />
      </Section>
      <Section
        title={user.hasPassword ? 'Password' : 'Add a password'}
        description={
          user.hasPassword
            ? 'Changing it signs you out of every other browser.'
            : 'You sign in with your identity provider. Add a password as a second way to sign in.'
        }
      >
        <Password />
      </Section>
      <Section title="Theme" description="Kept in this browser.">
        <Segments
          label="Theme"
          value={theme}
          onValue={setTheme}
          options={[
            { value: 'system', label: <Choice icon={<Monitor />} text="System" /> },
            { value: 'light', label: <Choice icon={<Sun />} text="Light" /> },
            { value: 'dark', label: <Choice icon={<Moon />} text="Dark" /> },
          ]}
        />
      </Section>
      <Section
        title="Signed-in browsers"
        description="Sign out any browser you do not recognize, then change your password."
      >
        <Browsers />
      </Section>
    </Frame>
  )
}

const Choice = ({ icon, text }: { icon: React.ReactNode; text: string }) => (
  <>
    {icon}
    {text}
  </>
)

function Profile() {
  const { user } = useSession()
  const form = useForm({
    initial: { name: user.name },
    submit: auth.changeMe,
    done: 'Name saved',
    onDone: (session) => cache.setQueryData(auth.session().queryKey, session),
  })
  return (
    <Form form={form} className="max-w-100">
      <Field form={form} name="name" label="Name">
        {(control) => <Input {...control} autoComplete="name" />}
      </Field>
      <FieldFrame label="Email" hint="The address you sign in with.">
        {(control) => <Input {...control} value={user.email} readOnly disabled />}
      </FieldFrame>
      <FormError form={form} />
      <SubmitButton form={form} disabled={!form.isDirty}>
        Save
      </SubmitButton>
    </Form>
  )
}

const noPasswords = { currentPassword: '', newPassword: '' }

function Password() {
  const { user } = useSession()
  const form = useForm({
    initial: noPasswords,
    submit: ({ currentPassword, newPassword }) =>
      auth.changeMe({ newPassword, ...(user.hasPassword ? { currentPassword } : {}) }),
    done: 'Password changed',
    onDone: (session) => {
      cache.setQueryData(auth.session().queryKey, session)
      void cache.invalidateQueries({ queryKey: auth.browsers().queryKey })
      form.reset(noPasswords)
    },
  })
  return (
    <Form form={form} className="max-w-100">
      {user.hasPassword && (
        <Field form={form} name="currentPassword" label="Current password">
          {(control) => <Input {...control} type="password" autoComplete="current-password" className="h-10" />}
        </Field>
      )}
      <PasswordField form={form} name="newPassword" label="New password" />
      <FormError form={form} />
      <SubmitButton form={form} disabled={form.values.newPassword === ''}>
        {user.hasPassword ? 'Change password' : 'Add password'}
      </SubmitButton>
    </Form>
  )
}

type SignedInBrowser = Answer<'GET /v1/auth/sessions'>[number]

function Browsers() {
  const query = useQuery(auth.browsers())
  const navigate = useNavigate()
  const ask = useConfirm()
  const end = useAction({
    do: auth.endBrowser,
    done: 'Browser signed out',
    onDone: () => void cache.invalidateQueries({ queryKey: auth.browsers().queryKey }),
  })
  const endAll = useAction({
    do: auth.signOutEverywhere,
    onDone: () => {
      void navigate({ to: '/sign-in', search: {} }).then(() => cache.clear())
    },
  })
  const askEndAll = async (count: number) => {
    const body = `You will be signed out of ${count === 1 ? 'this browser' : `all ${count} browsers, this one too`}.`
    if (await ask({ title: 'Sign out everywhere?', body, confirm: 'Sign out everywhere' })) endAll.mutate()
  }
  return (
    <Loaded query={query}>
      {(browsers) => (
        <>
          <ul className="divide-y rounded-surface border">
            {browsers.map((browser) => (
              <BrowserRow
                key={browser._id}
                browser={browser}
                isPending={end.isPending && end.variables === browser._id}
                onEnd={() => end.mutate(browser._id)}
              />
            ))}
          </ul>
          <Button
            className="mt-3"
            icon={<LogOut />}
            pending={endAll.isPending}
            onClick={() => void askEndAll(browsers.length)}
          >
            Sign out everywhere
          </Button>
        </>
      )}
    </Loaded>
  )
}

function BrowserRow(props: { browser: SignedInBrowser; isPending: boolean; onEnd: () => void }) {
  const { browser, isPending, onEnd } = props
  return (
    <li className="flex items-center gap-3 px-3 py-2.5">
      <Laptop className="size-4 shrink-0 text-muted" aria-hidden />
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-2 text-sm">
          <span className="truncate font-medium">{browserName(browser.userAgent)}</span>
          {browser.isCurrent && <Badge tone="good">this browser</Badge>}
        </div>
        <div className="truncate text-xs text-muted">
          {browser.address} · last used <Time at={browser.lastSeenAt} />
        </div>
      </div>
      {!browser.isCurrent && (
        <Button size="sm" pending={isPending} onClick={onEnd}>
          Sign out
        </Button>
      )}
    </li>
  )
}

/** "Firefox on Linux", as far as the user agent tells. */
function browserName(userAgent: string | null): string {
  const names = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari']
  const systems: Array<[pattern: RegExp, name: string]> = [
    [/iPhone|iPad/, 'iOS'],
    [/Android/, 'Android'],
    [/Mac OS X/, 'macOS'],
    [/Windows/, 'Windows'],
    [/Linux/, 'Linux'],
  ]
  const found = names.find((name) => userAgent?.includes(name))
  const name = { Edg: 'Edge', OPR: 'Opera' }[found ?? ''] ?? found ?? 'Unknown browser'
  const system = systems.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1]
  return system ? `${name} on ${system}` : name
}
