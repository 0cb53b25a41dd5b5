// Setting up a second factor: the authenticator app, a passkey, and the recovery codes that come with the first one.
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { type AddedFactor, factors } from '../../api/factors.ts'
import { Button } from '../base/button.tsx'
import { CopyButton } from '../base/copy.tsx'
import { download } from '../base/download.ts'
import { Loaded } from '../base/states.tsx'
import { Field, Form, FormError, SubmitButton, useForm } from '../form/form.tsx'
import { Input } from '../form/input.tsx'
import { Checkbox } from '../form/switch.tsx'
import { CodeInput } from './proof.tsx'
import { QrCode } from './qr-code.tsx'

/** Scan the code, then give one. */
export function AppSetUp({ onAdded }: { onAdded: (added: AddedFactor) => void }) {
  // Once for each time it is opened: every call makes a new secret.
  const begun = useQuery({
    queryKey: ['app-set-up'],
    queryFn: factors.beginApp,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const form = useForm({
    initial: { code: '' },
    submit: ({ code }) => factors.confirmApp(code),
    onDone: onAdded,
  })
  return (
    <Loaded query={begun}>
      {({ uri, secret }) => (
        <Form form={form}>
          <div className="flex flex-wrap items-start gap-4">
            <QrCode
              text={uri}
              label="QR code for your authenticator app"
              className="size-40 shrink-0 rounded-control border"
            />
            <div className="min-w-44 flex-1 text-sm text-pretty text-muted">
              <p>Scan it with an authenticator app, such as the one of your password manager.</p>
              <p className="mt-3">Cannot scan? Type this key into the app:</p>
              <p className="mt-1 flex items-start gap-1">
                <code className="min-w-0 text-ink">{secret.match(/.{1,4}/g)?.join(' ')}</code>
                <CopyButton text={secret} label="Copy the key" />
              </p>
            </div>
          </div>
          <Field form={form} name="code" label="Code that the app shows">
            {(control) => <CodeInput {...control} />}
          </Field>
          <FormError form={form} />
          <SubmitButton form={form} size="lg" className="w-full" disabled={form.values.code === ''}>
            Turn on
          </SubmitButton>
        </Form>
      )}
    </Loaded>
  )
}

/** Names the passkey, then has the browser make it. */
export function PasskeySetUp({ onAdded }: { onAdded: (added: AddedFactor) => void }) {
  const form = useForm({
    initial: { name: 'This device' },
    submit: ({ name }) => factors.addPasskey(name),
    onDone: onAdded,
  })
  return (
    <Form form={form}>
      <Field form={form} name="name" label="Name" hint="So that you recognize it in the list.">
        {(control) => <Input {...control} autoFocus className="h-10" maxLength={100} />}
      </Field>
      <FormError form={form} />
      <SubmitButton form={form} size="lg" className="w-full" disabled={form.values.name.trim() === ''}>
        Continue
      </SubmitButton>
    </Form>
  )
}

/** Shown once. The button opens when the person says that they have them. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const [isKept, setKept] = useState(false)
  const text = `${codes.join('\n')}\n`
  return (
    <div className="space-y-4">
      <ul
        aria-label="Recovery codes"
        className="grid grid-cols-1 gap-x-6 gap-y-1 rounded-surface border bg-sunken p-3 font-mono text-code min-[420px]:grid-cols-2"
      >
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="flex flex-wrap items-center gap-2">
        <Button
          icon={<Download />}
          onClick={() =>
            download('belfry-recovery-codes.txt', `Belfry, ${window.location.host}\n\n${text}`, 'text/plain')
          }
        >
          Download
        </Button>
        <CopyButton text={text} label="Copy all codes" />
      </div>
      <div className="flex items-center gap-2.5 text-sm">
        <Checkbox id="codes-are-kept" value={isKept} onValue={setKept} />
        <label htmlFor="codes-are-kept">I have stored them in a safe place</label>
      </div>
      <Button variant="primary" size="lg" className="w-full" disabled={!isKept} onClick={onDone}>
        Done
      </Button>
    </div>
  )
}

export const recoveryCodesHint =
  'Each code signs you in once when you have lost your other factors. They are not shown again.'
