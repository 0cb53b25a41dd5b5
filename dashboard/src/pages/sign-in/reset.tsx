import { auth } from '../../api/auth.ts'
import { BarePage } from '../../shell/bare-page.tsx'
import { useEnter } from '../../shell/enter.ts'
import { Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { PasswordField } from '../../ui/form/password-field.tsx'
import { type LinkDetails, LinkPage } from './link.tsx'

export const Page = () => <LinkPage kind="reset">{(link, token) => <Reset link={link} token={token} />}</LinkPage>

function Reset({ link, token }: { link: LinkDetails; token: string }) {
  const enter = useEnter()
  const form = useForm({
    initial: { password: '' },
    submit: ({ password }) => auth.resetPassword({ token, password }),
    onDone: (session) => enter(session),
  })
  return (
    <BarePage title="Choose a new password" description={`For ${link.email}. You will be signed out everywhere else.`}>
      <Form form={form}>
        {/* Password managers need it. */}
        <input type="email" autoComplete="username" value={link.email ?? ''} readOnly hidden />
        <PasswordField form={form} name="password" label="New password" />
        <FormError form={form} />
        <SubmitButton form={form} size="lg" className="w-full">
          Save and sign in
        </SubmitButton>
      </Form>
    </BarePage>
  )
}
