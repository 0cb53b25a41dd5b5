// For members of an organization that requires a second factor, before anything else.
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { Fingerprint, LogOut, Smartphone } from 'lucide-react'
import { useState } from 'react'
import { auth } from '../../api/auth.ts'
import { cache, useAction } from '../../api/cache.ts'
import { type AddedFactor, canUsePasskeys } from '../../api/factors.ts'
import { BarePage } from '../../shell/bare-page.tsx'
import { Button } from '../../ui/base/button.tsx'
import { AppSetUp, PasskeySetUp, RecoveryCodes, recoveryCodesHint } from '../../ui/domain/factor-dialogs.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'

const schema = { returnTo: text('/') }

export function Page() {
  const [{ returnTo }] = useUrlState(schema)
  const router = useRouter()
  const session = useQuery(auth.session()).data
  const [way, setWay] = useState<'app' | 'passkey'>()
  const [codes, setCodes] = useState<readonly string[]>()
  // Only paths on this site: a URL with a host would lead elsewhere.
  const target = /^\/(?![/\\])/.test(returnTo) ? returnTo : '/'
  const leave = () => {
    cache.clear()
    router.history.push(target)
  }
  const onAdded = ({ recoveryCodes }: AddedFactor) => (recoveryCodes ? setCodes(recoveryCodes) : leave())
  const signOut = useAction({
    do: auth.signOut,
    onDone: () => {
      void router.navigate({ to: '/sign-in', search: {} }).then(() => cache.clear())
    },
  })
  if (codes)
    return (
      <BarePage title="Keep your recovery codes" description={recoveryCodesHint}>
        <RecoveryCodes codes={codes} onDone={leave} />
      </BarePage>
    )
  const { name = 'Your organization' } = session?.organization ?? {}
  return (
    <BarePage
      title="Set up a second factor"
      description={`${name} asks every member for one. It protects your account when somebody learns your password.`}
      footer={
        <Button
          variant="ghost"
          size="sm"
          className="-ml-2"
          icon={<LogOut />}
          pending={signOut.isPending}
          onClick={() => signOut.mutate()}
        >
          Sign out
        </Button>
      }
    >
      {way === 'app' && <AppSetUp onAdded={onAdded} />}
      {way === 'passkey' && <PasskeySetUp onAdded={onAdded} />}
      {way === undefined && (
        <div className="space-y-3">
          <Button size="lg" className="w-full" icon={<Smartphone />} onClick={() => setWay('app')}>
            Use an authenticator app
          </Button>
          <Button
            size="lg"
            className="w-full"
            icon={<Fingerprint />}
            disabled={!canUsePasskeys()}
            onClick={() => setWay('passkey')}
          >
            Use a passkey
          </Button>
          {!canUsePasskeys() && <p className="text-xs text-muted">{noPasskeysHere}</p>}
        </div>
      )}
      {way !== undefined && (
        <Button variant="ghost" size="sm" className="mt-3 -ml-2" onClick={() => setWay(undefined)}>
          Choose another way
        </Button>
      )}
    </BarePage>
  )
}

const noPasskeysHere = 'This browser offers no passkeys at this address. They need HTTPS and a host name, or localhost.'
