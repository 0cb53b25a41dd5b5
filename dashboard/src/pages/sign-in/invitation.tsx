import { useQuery } from '@tanstack/react-query'
import { auth } from '../../api/auth.ts'
import { BarePage } from '../../shell/bare-page.tsx'
import { useEnter } from '../../shell/enter.ts'
import { buttonClass } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { Field, FieldFrame, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { PasswordField } from '../../ui/form/password-field.tsx'
import { type LinkDetails, LinkPage } from './link.tsx'

export const Page = () => <LinkPage kind="invitation">{(link, token) => <Accept link={link} token={token} />}</LinkPage>

const withArticle = (role: string | null) => (role && /^[aeio]/.test(role) ? `an ${role}` : `a ${role ?? 'member'}`)

function Accept({ link, token }: { link: LinkDetails; token: string }) {
  const enter = useEnter()
  const { data: options } = useQuery(auth.options())
  const form = useForm({
    initial: { name: link.name ?? '', password: '' },
    submit: (values) => auth.acceptInvitation({ token, ...values }),
    onDone: (session) => enter(session),
  })
  return (
    <BarePage title={`Join ${link.organization}`} description={`You are invited as ${withArticle(link.role)}.`}>
      <Form form={form}>
        <FieldFrame label="Email">
          {(control) => <Input {...control} value={link.email ?? ''} readOnly disabled className="h-10" />}
        </FieldFrame>
        <Field form={form} name="name" label="Your name">
          {(control) => <Input {...control} autoComplete="name" autoFocus className="h-10" />}
        </Field>
        <PasswordField form={form} name="password" label="Password" />
        <FormError form={form} />
        <SubmitButton form={form} size="lg" className="w-full">
          Join
        </SubmitButton>
      </Form>
      {options?.oidc && (
        <a href={options.oidc.url} className={cn(buttonClass({ size: 'lg' }), 'mt-3 w-full')}>
          Join with {options.oidc.name} instead
        </a>
      )}
    </BarePage>
  )
}
