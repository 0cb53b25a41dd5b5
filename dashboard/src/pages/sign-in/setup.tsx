import { auth } from '../../api/auth.ts'
import { BarePage } from '../../shell/bare-page.tsx'
import { useEnter } from '../../shell/enter.ts'
import { Field, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { PasswordField } from '../../ui/form/password-field.tsx'
import { LinkPage } from './link.tsx'

export const Page = () => <LinkPage kind="set-up">{(_link, token) => <SetUp token={token} />}</LinkPage>

function SetUp({ token }: { token: string }) {
  const enter = useEnter()
  const form = useForm({
    initial: { name: '', email: '', password: '', organizationName: '' },
    submit: ({ organizationName, ...rest }) =>
      auth.setUp({ token, ...rest, ...(organizationName.trim() ? { organizationName } : {}) }),
    onDone: (session) => enter(session, '/start'),
  })
  return (
    <BarePage title="Set up Belfry" description="You become the owner. Your data stays on this server.">
      <Form form={form}>
        <Field form={form} name="name" label="Your name">
          {(control) => <Input {...control} autoComplete="name" autoFocus className="h-10" />}
        </Field>
        <Field form={form} name="email" label="Email">
          {(control) => <Input {...control} type="email" autoComplete="username" className="h-10" />}
        </Field>
        <PasswordField form={form} name="password" label="Password" />
        <Field form={form} name="organizationName" label="Organization" optional>
          {(control) => <Input {...control} autoComplete="organization" placeholder="Acme" className="h-10" />}
        </Field>
        <FormError form={form} />
        <SubmitButton form={form} size="lg" className="w-full">
          Create the owner account
        </SubmitButton>
      </Form>
    </BarePage>
  )
}
