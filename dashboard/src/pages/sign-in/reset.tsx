import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { auth } from '../../api/auth.ts'
import type { SecondStep as Step } from '../../api/factors.ts'
import { BarePage } from '../../shell/bare-page.tsx'
import { useEnter } from '../../shell/enter.ts'
import { Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { PasswordField } from '../../ui/form/password-field.tsx'
import { type LinkDetails, LinkPage } from './link.tsx'
import { SecondStep } from './second-step.tsx'

export const Page = () => <LinkPage kind="reset">{(link, token) => <Reset link={link} token={token} />}</LinkPage>

function Reset({ link, token }: { link: LinkDetails; token: string }) {
  const enter = useEnter()
  const navigate = useNavigate()
  const [step, setStep] = useState<Step>()
  const form = useForm({
    initial: { password: '' },
    submit: ({ password }) => auth.resetPassword({ token, password }),
    onDone: (answer) => ('secondStep' in answer ? setStep(answer.secondStep) : enter(answer)),
  })
  if (step) return <SecondStep step={step} onBack={() => void navigate({ to: '/sign-in', search: {} })} />
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
