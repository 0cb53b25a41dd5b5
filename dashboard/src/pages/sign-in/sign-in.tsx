import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fingerprint, KeyRound } from 'lucide-react'
import { useState } from 'react'
import { auth } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { canUsePasskeys, factors, type SecondStep as Step } from '../../api/factors.ts'
import { BarePage } from '../../shell/bare-page.tsx'
import { useEnter } from '../../shell/enter.ts'
import { Button, buttonClass } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { Field, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'
import { SecondStep } from './second-step.tsx'

const schema = { returnTo: text('/'), error: text() }

/** Error codes in the URL after a failed sign-in with the identity provider. */
const oidcErrors: Record<string, string> = {
  oidc_failed: 'Signing in was refused or took too long. Please try again.',
  oidc_unavailable: 'The identity provider cannot be reached at the moment. Try again, or use your password.',
  oidc_email_unverified: 'Your identity provider has not verified your address. Verify it there, then try again.',
  oidc_no_account: 'This address has no invitation yet. Ask an admin of your organization for one.',
}

export function Page() {
  const [{ returnTo, error }] = useUrlState(schema)
  const enter = useEnter()
  const [step, setStep] = useState<Step>()
  const options = useQuery(auth.options()).data
  // Only paths on this site: a URL with a host would lead elsewhere.
  const target = /^\/(?![/\\])/.test(returnTo) ? returnTo : '/'
  const form = useForm({
    initial: { email: '', password: '' },
    submit: auth.signIn,
    onDone: (answer) => ('secondStep' in answer ? setStep(answer.secondStep) : enter(answer, target)),
  })
  const passkey = useAction({ do: factors.signInByPasskey, onDone: (session) => enter(session, target) })
  if (options?.isSetUp === false) return <NotSetUp />
  if (step)
    return (
      <SecondStep
        step={step}
        target={target}
        onBack={() => {
          setStep(undefined)
          form.reset({ email: form.values.email, password: '' })
        }}
      />
    )
  return (
    <BarePage
      title="Sign in to Belfry"
      footer={
        <Link
          to="/forgot-password"
          search={form.values.email ? { email: form.values.email } : {}}
          className="font-medium text-ink underline-offset-2 hover:underline"
        >
          Forgot your password?
        </Link>
      }
    >
      {error && (
        <p role="alert" className="mb-4 rounded-control border border-bad/30 bg-bad/8 px-3 py-2 text-sm text-bad">
          {oidcErrors[error] ?? oidcErrors.oidc_failed}
        </p>
      )}
      {options?.oidc && (
        <>
          <a
            href={`${options.oidc.url}?returnTo=${encodeURIComponent(target)}`}
            className={cn(buttonClass({ size: 'lg' }), 'w-full')}
          >
            <KeyRound />
            Continue with {options.oidc.name}
          </a>
          <div className="my-5 flex items-center gap-3 text-xs text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
            or
          </div>
        </>
      )}
      <Form form={form}>
        <Field form={form} name="email" label="Email">
          {(control) => <Input {...control} type="email" autoComplete="username" autoFocus className="h-10" />}
        </Field>
        <Field form={form} name="password" label="Password">
          {(control) => <Input {...control} type="password" autoComplete="current-password" className="h-10" />}
        </Field>
        <FormError form={form} />
        <SubmitButton form={form} size="lg" className="w-full">
          Sign in
        </SubmitButton>
      </Form>
      {options?.hasPasskeys && canUsePasskeys() && (
        <Button
          size="lg"
          className="mt-3 w-full"
          icon={<Fingerprint />}
          pending={passkey.isPending}
          onClick={() => passkey.mutate()}
        >
          Sign in with a passkey
        </Button>
      )}
    </BarePage>
  )
}

function NotSetUp() {
  return (
    <BarePage title="Belfry has no owner yet">
      <p className="text-sm text-muted">
        Open the link that the first start of Belfry printed, or wrote into the file it named: it makes you the owner.
        If you lost it, <code className="text-ink">npm run sign-in-link</code> prints another.
      </p>
    </BarePage>
  )
}
