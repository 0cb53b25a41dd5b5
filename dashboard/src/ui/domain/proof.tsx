// Asks the person to prove who they are, before what cannot be undone; the request that asked for it is then repeated.
import { useQuery } from '@tanstack/react-query'
import { Fingerprint, KeyRound, LogIn } from 'lucide-react'
import { useEffect, useState } from 'react'
import { auth, type Session } from '../../api/auth.ts'
import { cache, useAction } from '../../api/cache.ts'
import { ApiError, whenProofIsNeeded } from '../../api/client.ts'
import { canUsePasskeys, factors } from '../../api/factors.ts'
import { Button, buttonClass } from '../base/button.tsx'
import { cn } from '../base/class-names.ts'
import { Field, Form, FormError, SubmitButton, useForm } from '../form/form.tsx'
import { Input } from '../form/input.tsx'
import { Dialog } from '../frame/dialog.tsx'
import { Segments } from '../frame/tabs.tsx'

export function ProofDialog() {
  const [answer, setAnswer] = useState<(isProved: boolean) => void>()
  useEffect(() => {
    whenProofIsNeeded(() => new Promise<boolean>((resolve) => setAnswer(() => resolve)))
  }, [])
  const settle = (isProved: boolean) => {
    answer?.(isProved)
    setAnswer(undefined)
    if (!isProved) return
    void cache.invalidateQueries({ queryKey: auth.session().queryKey })
    const isHidden = (error: Error | null) => error instanceof ApiError && error.code === 'proof_needed'
    void cache.invalidateQueries({ predicate: ({ state }) => isHidden(state.error) })
  }
  return (
    <Dialog
      open={answer !== undefined}
      onClose={() => settle(false)}
      title="Confirm that it is you"
      description="This cannot be undone or shows a secret. You will not be asked again for 15 minutes."
    >
      {answer && <Ways onProved={() => settle(true)} />}
    </Dialog>
  )
}

function Ways({ onProved }: { onProved: () => void }) {
  const session = useQuery(auth.session()).data
  const options = useQuery(auth.options()).data
  if (!session) return null
  const hasPasskey = session.secondFactor.passkeys > 0 && canUsePasskeys()
  const isTyped = session.user.hasPassword || session.secondFactor.hasApp
  const returnTo = encodeURIComponent(window.location.pathname + window.location.search)
  return (
    <div className="space-y-4">
      {hasPasskey && <ByPasskey onProved={onProved} />}
      {isTyped && <ByTyping session={session} onProved={onProved} />}
      {session.user.hasOidc && options?.oidc && (
        <a
          href={`${options.oidc.url}?again=true&returnTo=${returnTo}`}
          className={cn(buttonClass({ size: 'lg' }), 'w-full')}
        >
          <KeyRound />
          Sign in again with {options.oidc.name}
        </a>
      )}
      {!hasPasskey && !isTyped && !session.user.hasOidc && <SignInAgain />}
    </div>
  )
}

function ByPasskey({ onProved }: { onProved: () => void }) {
  const prove = useAction({ do: factors.proveByPasskey, onDone: onProved })
  return (
    <Button
      size="lg"
      className="w-full"
      icon={<Fingerprint />}
      pending={prove.isPending}
      onClick={() => prove.mutate()}
      autoFocus
    >
      Use a passkey
    </Button>
  )
}

function ByTyping({ session, onProved }: { session: Session; onProved: () => void }) {
  const { hasPassword } = session.user
  const { hasApp } = session.secondFactor
  const [way, setWay] = useState<'password' | 'code'>(hasPassword ? 'password' : 'code')
  const form = useForm({
    initial: { password: '', code: '' },
    submit: ({ password, code }) => factors.prove(way === 'password' ? { password } : { code }),
    onDone: onProved,
  })
  return (
    <Form form={form}>
      {hasPassword && hasApp && (
        <Segments
          label="How to confirm"
          value={way}
          onValue={setWay}
          options={[
            { value: 'password', label: 'Password' },
            { value: 'code', label: 'Code from your app' },
          ]}
        />
      )}
      {way === 'password' ? (
        <>
          {/* Password managers need it. */}
          <input type="email" autoComplete="username" value={session.user.email} readOnly hidden />
          <Field form={form} name="password" label="Password">
            {(control) => (
              <Input {...control} type="password" autoComplete="current-password" autoFocus className="h-10" />
            )}
          </Field>
        </>
      ) : (
        <Field form={form} name="code" label="Code from your authenticator app">
          {(control) => <CodeInput {...control} autoFocus />}
        </Field>
      )}
      <FormError form={form} />
      <SubmitButton form={form} size="lg" className="w-full" disabled={form.values[way] === ''}>
        Confirm
      </SubmitButton>
    </Form>
  )
}

/** For codes of six digits; phones show the digits, and offer a code they know. */
export function CodeInput(props: React.ComponentProps<typeof Input>) {
  return (
    <Input
      {...props}
      inputMode="numeric"
      autoComplete="one-time-code"
      maxLength={12}
      spellCheck={false}
      placeholder="123 456"
      className="h-10 font-mono tracking-widest"
    />
  )
}

function SignInAgain() {
  const signOut = useAction({ do: auth.signOut, onDone: () => window.location.assign('/sign-in') })
  return (
    <>
      <p className="text-sm text-muted">There is nothing to confirm it with here. Sign in again and repeat it.</p>
      <Button
        size="lg"
        className="w-full"
        icon={<LogIn />}
        pending={signOut.isPending}
        onClick={() => signOut.mutate()}
      >
        Sign in again
      </Button>
    </>
  )
}
