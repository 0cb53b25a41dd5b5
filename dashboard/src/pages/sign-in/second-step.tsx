// After the password: a code, a passkey or a recovery code.
import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { useAction } from '../../api/cache.ts'
import { canUsePasskeys, factors, type SecondStep as Step } from '../../api/factors.ts'
import { BarePage } from '../../shell/bare-page.tsx'
import { useEnter } from '../../shell/enter.ts'
import { Button } from '../../ui/base/button.tsx'
import { CodeInput } from '../../ui/domain/proof.tsx'
import { Field, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'

interface SecondStepProps {
  step: Step
  target?: string
  /** Back to the password. */
  onBack: () => void
}

export function SecondStep({ step, target = '/', onBack }: SecondStepProps) {
  const enter = useEnter()
  const hasPasskey = step.ways.includes('passkey') && canUsePasskeys()
  const hasApp = step.ways.includes('app')
  const [isRecovering, setRecovering] = useState(!hasApp && !hasPasskey)
  const passkey = useAction({
    do: () => factors.secondStepByPasskey(step.token),
    onDone: (session) => enter(session, target),
  })
  const form = useForm({
    initial: { code: '', recoveryCode: '' },
    submit: ({ code, recoveryCode }) =>
      factors.secondStep({ token: step.token, ...(isRecovering ? { recoveryCode } : { code }) }),
    onDone: (session) => enter(session, target),
  })
  return (
    <BarePage
      title="One more step"
      description={isRecovering ? 'Give one of your recovery codes. It works once.' : 'Confirm that it is you.'}
      footer={
        <div className="flex flex-col items-start gap-2">
          {step.ways.includes('recovery-code') && (hasApp || hasPasskey) && (
            <Button variant="ghost" size="sm" className="-ml-2" onClick={() => setRecovering(!isRecovering)}>
              {isRecovering ? 'Use your usual second factor' : 'Use a recovery code'}
            </Button>
          )}
          <Button variant="ghost" size="sm" className="-ml-2" onClick={onBack}>
            Back to sign in
          </Button>
          <p>Lost everything? Ask an owner of your organization to remove your second factors.</p>
        </div>
      }
    >
      {!isRecovering && hasPasskey && (
        <Button
          size="lg"
          className="mb-4 w-full"
          icon={<Fingerprint />}
          pending={passkey.isPending}
          onClick={() => passkey.mutate()}
          autoFocus={!hasApp}
        >
          Use a passkey
        </Button>
      )}
      {(isRecovering || hasApp) && (
        <Form form={form}>
          {isRecovering ? (
            <Field form={form} name="recoveryCode" label="Recovery code">
              {(control) => (
                <Input {...control} autoFocus autoComplete="off" spellCheck={false} className="h-10 font-mono" />
              )}
            </Field>
          ) : (
            <Field form={form} name="code" label="Code from your authenticator app">
              {(control) => <CodeInput {...control} autoFocus />}
            </Field>
          )}
          <FormError form={form} />
          <SubmitButton
            form={form}
            size="lg"
            className="w-full"
            disabled={(isRecovering ? form.values.recoveryCode : form.values.code) === ''}
          >
            Sign in
          </SubmitButton>
        </Form>
      )}
    </BarePage>
  )
}
