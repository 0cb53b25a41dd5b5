import { Monitor, Moon, Sun } from 'lucide-react'
import { auth, useSession } from '../../api/auth.ts'
import { cache } from '../../api/cache.ts'
import { setTheme, useTheme } from '../../shell/theme.ts'
import { Field, FieldFrame, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { PasswordField } from '../../ui/form/password-field.tsx'
import { Page as Frame, Section } from '../../ui/frame/page.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'
import { flag, useUrlState } from '../../ui/list/url-state.ts'
import { Browsers } from './browsers.tsx'
import { Factors } from './factors.tsx'

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
      <Factors />
      <Section
        title="Signed-in browsers"
        description="Sign out any browser you do not recognize, then change your password."
      >
        <Browsers />
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
