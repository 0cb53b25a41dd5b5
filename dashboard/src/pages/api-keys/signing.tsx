// What signs in this environment, one secret for each purpose, and the door for keys of other environments.
import { useQuery } from '@tanstack/react-query'
import { RefreshCw, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { apiKeys, type Doors, type NewSigningSecret, type Purpose } from '../../api/api-keys.ts'
import { useCan, useCanInOrganization } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { ApiError } from '../../api/client.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { CopyButton } from '../../ui/base/copy.tsx'
import { Hidden, Loaded } from '../../ui/base/states.tsx'
import { Switch } from '../../ui/form/switch.tsx'
import { Dialog, useConfirm } from '../../ui/frame/dialog.tsx'
import { Section } from '../../ui/frame/page.tsx'

const purposes: Record<Purpose, { name: string; use: string }> = {
  inbox: { name: 'Inbox', use: 'Your backend makes the hashes of subscribers with it.' },
  bridge: { name: 'Bridge', use: 'Signs the calls to your code-first workflows.' },
  replies: { name: 'Replies', use: 'Signs the callbacks for answered emails.' },
  requests: { name: 'Requests', use: 'Signs HTTP request steps and the webhooks of filters.' },
}

export function SigningSecrets() {
  const canSee = useCan('owner')
  const query = useQuery({ ...apiKeys.signing(), enabled: canSee })
  const [made, setMade] = useState<NewSigningSecret>()
  const ask = useConfirm()
  const renew = useAction({ do: apiKeys.rotateSecret, refresh: ['api-keys'], onDone: setMade })
  const askRenew = async (purpose: Purpose) => {
    const yes = await ask({
      title: `Make a new ${purposes[purpose].name.toLowerCase()} secret?`,
      body: 'The one before stays valid for a day. Put the new one into your programs until then.',
      confirm: 'Make a new secret',
    })
    if (yes) renew.mutate(purpose)
  }
  return (
    <Section
      title="Signing secrets"
      description="They prove who sent a request. Each has one purpose, and none opens the API."
    >
      {query.error instanceof ApiError && query.error.code === 'proof_needed' && (
        <div className="mb-3">
          <Hidden>Confirm that it is you to copy the secrets.</Hidden>
        </div>
      )}
      <ul aria-label="Signing secrets" className="divide-y rounded-surface border">
        {(Object.keys(purposes) as Purpose[]).map((purpose) => {
          const signer = query.data?.find((each) => each.purpose === purpose)
          return (
            <li key={purpose} className="flex items-center gap-3 px-3 py-2.5 text-sm">
              <div className="min-w-0 flex-1">
                <span className="font-medium">{purposes[purpose].name}</span>
                <span className="block text-xs text-muted">
                  {purposes[purpose].use}
                  {signer?.isApart === false && ' The compatible key is used until you make a secret.'}
                </span>
              </div>
              {signer?.secrets[0] && (
                <CopyButton text={signer.secrets[0].secret} label={`Copy the ${purpose} secret`} />
              )}
              <Button
                variant="ghost"
                size="icon"
                hint={`Make a new ${purpose} secret`}
                onClick={() => void askRenew(purpose)}
              >
                <RefreshCw />
              </Button>
            </li>
          )
        })}
      </ul>
      {made && (
        <Dialog
          open
          onClose={() => setMade(undefined)}
          size="md"
          title={`The new ${purposes[made.purpose].name.toLowerCase()} secret`}
          description="Copy it into your programs. Owners can copy it here later."
          footer={
            <Button variant="primary" onClick={() => setMade(undefined)}>
              Done
            </Button>
          }
        >
          <div className="flex items-center gap-2 rounded-surface border px-3 py-2">
            <code className="min-w-0 flex-1 break-all">{made.secret}</code>
            <CopyButton text={made.secret} label="Copy the new secret" />
          </div>
        </Dialog>
      )}
    </Section>
  )
}

export function KeysOfOthers() {
  const environment = useEnvironment()
  const query = useQuery(apiKeys.doors(environment._id))
  return (
    <Section title="Keys of other environments" description={`Whether they reach ${environment.name}.`}>
      <Loaded query={query}>{(doors) => <Door doors={doors} />}</Loaded>
    </Section>
  )
}

function Door({ doors: { openToKeys } }: { doors: Doors }) {
  const canChange = useCanInOrganization('admin')
  const environment = useEnvironment()
  const change = useAction({
    do: (isOpen: boolean) => apiKeys.changeDoors(environment._id, isOpen),
    refresh: ['api-keys'],
    done: 'Saved',
  })
  return (
    <div className="flex items-start gap-3 rounded-surface border px-3 py-2.5 text-sm">
      {openToKeys && <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />}
      <p className="min-w-0 flex-1 text-pretty" id="door-of-keys">
        {openToKeys
          ? `Every API key of the organization that administers an environment can publish into ${environment.name}, so a Development key on a laptop can change what it sends. Close this, and publish on the dashboard or with a key that may publish here.`
          : `Only people, and keys that were made for it, can publish into ${environment.name}.`}
      </p>
      <Switch
        aria-label={`Keys of other environments may publish into ${environment.name}`}
        aria-describedby="door-of-keys"
        value={openToKeys}
        onValue={(isOpen) => change.mutate(isOpen)}
        disabled={change.isPending || !canChange}
      />
    </div>
  )
}
