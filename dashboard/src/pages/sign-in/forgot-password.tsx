// "Forgot your password?": asks for a link by email, or says who can make one where no email can be sent.
import { useQuery } from '@tanstack/react-query'
import { MailCheck } from 'lucide-react'
import { useState } from 'react'
import { auth } from '../../api/auth.ts'
import { BarePage } from '../../shell/bare-page.tsx'
import { ButtonLink } from '../../ui/base/button.tsx'
import { SkeletonText } from '../../ui/base/states.tsx'
import { Field, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'

const schema = { email: text() }

export function Page() {
  const [{ email }] = useUrlState(schema)
  const options = useQuery(auth.options())
  const [askedFor, setAskedFor] = useState<string>()
  const form = useForm({
    initial: { email },
    submit: (values) => auth.forgotPassword({ email: values.email.trim() }),
    onDone: () => setAskedFor(form.values.email.trim()),
  })
  if (options.data?.mailsResets === false) return <NoMail />
  if (askedFor !== undefined)
    return (
      <BarePage title="Check your email" footer={<Others />}>
        <p role="status" className="mb-5 flex gap-2.5 text-base text-pretty">
          <MailCheck className="mt-0.5 size-5 shrink-0 text-good" aria-hidden />
          <span>
            If <strong className="font-medium break-all">{askedFor}</strong> has an account with a password, a link to
            choose a new one is on its way. It works once, within a day.
          </span>
        </p>
        <BackToSignIn />
      </BarePage>
    )
  return (
    <BarePage
      title="Forgot your password?"
      description="We email you a link to choose a new one. Until then nothing changes."
      footer={<Others />}
    >
      {options.isLoading ? (
        <SkeletonText lines={4} />
      ) : (
        <Form form={form}>
          <Field form={form} name="email" label="Email">
            {(control) => <Input {...control} type="email" autoComplete="username" autoFocus className="h-10" />}
          </Field>
          <FormError form={form} />
          <SubmitButton form={form} size="lg" className="w-full">
            Email me a link
          </SubmitButton>
          <BackToSignIn />
        </Form>
      )}
    </BarePage>
  )
}

const BackToSignIn = () => (
  <ButtonLink to="/sign-in" search={{}} variant="ghost" size="lg" className="w-full">
    Back to sign in
  </ButtonLink>
)

const Others = () => <>No email? An admin of your organization can make a link for you, on the Team page.</>

function NoMail() {
  return (
    <BarePage
      title="Forgot your password?"
      description="This Belfry has no email integration, so it cannot email you a link."
    >
      <ul className="mb-5 list-disc space-y-2 pl-5 text-base text-pretty text-muted">
        <li>An admin of your organization can make a link for you, on the Team page.</li>
        <li>
          Whoever runs Belfry can make one with{' '}
          <code className="text-code break-words text-ink">npm run sign-in-link -- you@example.com</code>
        </li>
      </ul>
      <BackToSignIn />
    </BarePage>
  )
}
