// The second factors of one's own account: authenticator app, passkeys, recovery codes.
import { useQuery } from '@tanstack/react-query'
import { Fingerprint, Plus, Smartphone } from 'lucide-react'
import { useState } from 'react'
import { useSession } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import {
  type AddedFactor,
  canUsePasskeys,
  factors,
  type OwnFactors,
  type Passkey,
  refreshFactors,
} from '../../api/factors.ts'
import { Button } from '../../ui/base/button.tsx'
import { Loaded } from '../../ui/base/states.tsx'
import { Status } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { AppSetUp, PasskeySetUp, RecoveryCodes, recoveryCodesHint } from '../../ui/domain/factor-dialogs.tsx'
import { Field, Form, FormFooter, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Dialog, useConfirm } from '../../ui/frame/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/frame/menu.tsx'
import { Section } from '../../ui/frame/page.tsx'

type Opened = { kind: 'app' } | { kind: 'passkey' } | { kind: 'codes'; codes: readonly string[] }

export function Factors() {
  const query = useQuery(factors.own())
  const [opened, setOpened] = useState<Opened>()
  const close = () => setOpened(undefined)
  const onAdded = ({ recoveryCodes }: AddedFactor) => {
    void refreshFactors()
    setOpened(recoveryCodes ? { kind: 'codes', codes: recoveryCodes } : undefined)
  }
  const data = query.data
  const hasAny = data !== undefined && (data.appSince !== null || data.passkeys.length > 0)
  return (
    <>
      <Section
        title="Authenticator app"
        description="A code of six digits, in addition to your password. Your first second factor signs you out of every other browser."
      >
        <Loaded query={query}>{(own) => <App own={own} onSetUp={() => setOpened({ kind: 'app' })} />}</Loaded>
      </Section>
      <Section
        title="Passkeys"
        description="Your finger, face or a security key. They sign you in after your password, or without it."
      >
        <Loaded query={query}>{(own) => <Passkeys own={own} onAdd={() => setOpened({ kind: 'passkey' })} />}</Loaded>
      </Section>
      {hasAny && (
        <Section title="Recovery codes" description="For the day you lose your app and your passkeys.">
          <CodesLeft left={data.recoveryCodesLeft} onMade={(codes) => setOpened({ kind: 'codes', codes })} />
        </Section>
      )}
      {opened?.kind === 'app' && (
        <Dialog open onClose={close} title="Set up an authenticator app">
          <AppSetUp onAdded={onAdded} />
        </Dialog>
      )}
      {opened?.kind === 'passkey' && (
        <Dialog
          open
          onClose={close}
          title="Add a passkey"
          description="Your browser asks for your finger, face, PIN or security key next."
        >
          <PasskeySetUp onAdded={onAdded} />
        </Dialog>
      )}
      {opened?.kind === 'codes' && (
        <Dialog open onClose={close} title="Keep your recovery codes" description={recoveryCodesHint}>
          <RecoveryCodes codes={opened.codes} onDone={close} />
        </Dialog>
      )}
    </>
  )
}

/** Says what follows from removing a factor. */
function useAskRemoval() {
  const ask = useConfirm()
  const { secondFactor } = useSession()
  const isLast = (secondFactor.hasApp ? 1 : 0) + secondFactor.passkeys === 1
  return (what: string) =>
    ask({
      title: `Remove ${what}?`,
      body: isLast
        ? 'It is your only second factor. Your password alone will sign you in, and your recovery codes stop working.'
        : 'It no longer signs you in. Your other factors stay.',
      confirm: 'Remove',
    })
}

function App({ own, onSetUp }: { own: OwnFactors; onSetUp: () => void }) {
  const ask = useAskRemoval()
  const remove = useAction({
    do: factors.removeApp,
    done: 'Authenticator app removed',
    onDone: () => void refreshFactors(),
  })
  const askRemove = async () => {
    if (await ask('the authenticator app')) remove.mutate()
  }
  if (own.appSince === null)
    return (
      <Button icon={<Smartphone />} onClick={onSetUp}>
        Set up an authenticator app
      </Button>
    )
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-surface border px-3 py-2.5 text-sm">
      <Smartphone className="size-4 shrink-0 text-muted" aria-hidden />
      <span className="min-w-0 flex-1">
        <Status tone="good">On</Status>
        <span className="ml-2 text-xs text-muted">
          since <Time at={own.appSince} />
        </span>
      </span>
      <Button size="sm" pending={remove.isPending} onClick={() => void askRemove()}>
        Remove…
      </Button>
    </div>
  )
}

function Passkeys({ own, onAdd }: { own: OwnFactors; onAdd: () => void }) {
  const isPossible = canUsePasskeys()
  return (
    <>
      {own.passkeys.length > 0 && (
        <ul aria-label="Passkeys" className="mb-3 divide-y rounded-surface border">
          {own.passkeys.map((passkey) => (
            <PasskeyRow key={passkey._id} passkey={passkey} />
          ))}
        </ul>
      )}
      <Button icon={<Plus />} disabled={!isPossible} onClick={onAdd}>
        Add a passkey
      </Button>
      {!isPossible && (
        <p className="mt-2 text-xs text-pretty text-muted">
          This browser offers no passkeys at {window.location.host}. They need HTTPS and a host name, or localhost.
        </p>
      )}
    </>
  )
}

function PasskeyRow({ passkey }: { passkey: Passkey }) {
  const [isRenaming, setRenaming] = useState(false)
  const ask = useAskRemoval()
  const remove = useAction({
    do: () => factors.removePasskey(passkey._id),
    done: 'Passkey removed',
    onDone: () => void refreshFactors(),
  })
  const askRemove = async () => {
    if (await ask(`the passkey ${passkey.name}`)) remove.mutate()
  }
  return (
    <li className="flex items-center gap-3 px-3 py-2.5 text-sm">
      <Fingerprint className="size-4 shrink-0 text-muted" aria-hidden />
      <div className="min-w-0 flex-1">
        <div className="truncate font-medium" dir="auto">
          {passkey.name}
        </div>
        <div className="truncate text-xs text-muted">
          {passkey.host} · {passkey.lastUsedAt ? 'last used ' : 'never used, added '}
          <Time at={passkey.lastUsedAt ?? passkey.createdAt} />
        </div>
      </div>
      <Menu label={`Actions for ${passkey.name}`}>
        <MenuItem onSelect={() => setRenaming(true)}>Rename…</MenuItem>
        <MenuSeparator />
        <MenuItem danger onSelect={() => void askRemove()}>
          Remove…
        </MenuItem>
      </Menu>
      {isRenaming && <Rename passkey={passkey} onClose={() => setRenaming(false)} />}
    </li>
  )
}

function Rename({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const form = useForm({
    initial: { name: passkey.name },
    submit: ({ name }) => factors.renamePasskey(passkey._id, name),
    onDone: () => {
      void refreshFactors()
      onClose()
    },
  })
  return (
    <Dialog open onClose={onClose} title="Rename the passkey">
      <Form form={form}>
        <Field form={form} name="name" label="Name">
          {(control) => <Input {...control} autoFocus maxLength={100} />}
        </Field>
        <FormFooter form={form} onClose={onClose} disabled={form.values.name.trim() === ''}>
          Rename
        </FormFooter>
      </Form>
    </Dialog>
  )
}

function CodesLeft({ left, onMade }: { left: number; onMade: (codes: readonly string[]) => void }) {
  const ask = useConfirm()
  const make = useAction({
    do: factors.newRecoveryCodes,
    onDone: ({ recoveryCodes }) => {
      void refreshFactors()
      onMade(recoveryCodes)
    },
  })
  const askMake = async () => {
    const body = `The ${left === 1 ? 'code' : `${left} codes`} you have ${left === 1 ? 'stops' : 'stop'} working at once.`
    if (left === 0 || (await ask({ title: 'Make new recovery codes?', body, confirm: 'Make new codes' }))) make.mutate()
  }
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-surface border px-3 py-2.5 text-sm">
      <span className="min-w-0 flex-1">
        <Status tone={left > 3 ? 'good' : left > 0 ? 'warn' : 'bad'}>
          {left === 0 ? 'None left' : `${left} of 10 left`}
        </Status>
      </span>
      <Button size="sm" pending={make.isPending} onClick={() => void askMake()}>
        Make new codes…
      </Button>
    </div>
  )
}
