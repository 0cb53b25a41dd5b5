// The API keys of this environment. The compatible ones stand here: owners can show them; owners and admins can rotate them with
// an overlap or replace them at once. An admin sees a new key until they leave the page.
import { useQuery } from '@tanstack/react-query'
import { Eye, EyeOff, KeyRound, RefreshCw, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { cache, useAction } from '../../api/cache.ts'
import type { Answer } from '../../api/client.ts'
import { environments } from '../../api/environments.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { CopyButton, Id } from '../../ui/base/copy.tsx'
import { EmptyState, Loaded } from '../../ui/base/states.tsx'
import { Status } from '../../ui/base/status.tsx'
import { absoluteTime, Time } from '../../ui/base/time.tsx'
import { RequestCode } from '../../ui/code/code-block.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Dialog, useConfirm } from '../../ui/frame/dialog.tsx'
import { Facts, Page as Frame, Section } from '../../ui/frame/page.tsx'
import { flag, useUrlState } from '../../ui/list/url-state.ts'
import { ScopedKeys } from './scoped-keys.tsx'
import { KeysOfOthers, SigningSecrets } from './signing.tsx'

type Key = Answer<'GET /v1/environments/api-keys'>[number]

const schema = { rotate: flag() }

export function Page() {
  const canChange = useCan('admin')
  const environment = useEnvironment()
  if (!canChange)
    return (
      <Frame title="API keys" width="content">
        <EmptyState icon={<KeyRound />} title="API keys are for admins">
          A key can do everything an admin can in {environment.name}, so only admins can create keys and only owners can
          see existing ones. Ask them for a key, or for another role.
        </EmptyState>
      </Frame>
    )
  return <Keys />
}

function Keys() {
  const environment = useEnvironment()
  const canSee = useCan('owner')
  const query = useQuery({ ...environments.apiKeys(), enabled: canSee })
  const [made, setMade] = useState<Key[]>([])
  const ask = useConfirm()
  const [{ rotate }, setUrl] = useUrlState(schema)
  const [shownKey, setShownKey] = useState<string>()
  const remember = (keys: Key[]) => {
    if (canSee) cache.setQueryData(environments.apiKeys().queryKey, keys)
    else setMade(keys)
  }
  const replace = useAction({
    do: environments.replaceKeys,
    refresh: ['environments', 'api-keys'],
    done: 'New key created. All other compatible keys are now refused',
    onDone: remember,
  })
  const askReplace = async () => {
    const count = query.data?.length
    const [all, them] =
      count === 1
        ? ['Your current key is', 'it']
        : [count === undefined ? 'All current keys are' : `All ${count} keys are`, 'them']
    const yes = await ask({
      title: `Replace the key of ${environment.name} at once?`,
      body: `${all} refused at once. Every program that uses ${count === 1 ? 'it' : 'one of them'} stops triggering workflows in ${environment.name}, inbox hashes made with ${them} become invalid, and code-first workflows cannot be synced, until you give them the new key. To give them time, rotate instead.`,
      confirm: 'Replace now',
    })
    if (yes) replace.mutate()
  }
  const list = (keys: Key[]) => (
    <ul aria-label="Keys" className="divide-y rounded-surface border">
      {keys.map((key) => (
        <KeyRow
          key={key.key}
          apiKey={key}
          isShown={shownKey === key.key}
          onShow={() => setShownKey(shownKey === key.key ? undefined : key.key)}
        />
      ))}
    </ul>
  )
  return (
    <Frame title="API keys" width="content" description={`Your programs use these keys to access ${environment.name}.`}>
      <ScopedKeys />
      <Section
        title="Compatible key"
        description="Public client libraries use it, and sign with it, so Belfry keeps it encrypted and can show it. It can do everything an admin can in this environment. Keep it on your servers."
      >
        {canSee ? (
          <Loaded query={query}>{list}</Loaded>
        ) : (
          <>
            <p className="mb-3 text-sm text-pretty text-muted">
              {made.length === 0
                ? 'Only owners can see existing keys. You can create a new one, which is shown once.'
                : 'Copy it into your programs now: once you leave this page, only owners can see it.'}
            </p>
            {made.length > 0 && list(made)}
          </>
        )}
        <div className="mt-4 flex flex-wrap gap-2">
          <Button icon={<RefreshCw />} onClick={() => setUrl({ rotate: true }, { push: true })}>
            Rotate…
          </Button>
          <Button
            variant="ghost"
            icon={<TriangleAlert />}
            pending={replace.isPending}
            onClick={() => void askReplace()}
          >
            Replace at once…
          </Button>
        </div>
        {rotate && (
          <Rotate
            isOnlyOne={query.data?.length === 1}
            onClose={() => setUrl({ rotate: false })}
            onDone={(after) => {
              remember(after)
              setShownKey(after[0]?.key)
            }}
          />
        )}
      </Section>
      <SigningSecrets />
      <KeysOfOthers />
      <Section
        title="Identifier"
        description="The inbox in your page needs it to find this environment. It is not secret."
      >
        <Facts facts={[['Application identifier', <Id key="id" value={environment.identifier} />]]} />
      </Section>
      <Section
        title="First request"
        description="Triggers a workflow for one subscriber, and creates the subscriber if needed."
      >
        <RequestCode
          {...(shownKey ? { apiKey: shownKey } : {})}
          request={{
            method: 'POST',
            path: '/v1/events/trigger',
            body: { name: 'order-shipped', to: { subscriberId: 'ada' }, payload: { orderId: 'A-1042' } },
          }}
        />
        <p className="mt-2 text-xs text-muted">
          {shownKey ? 'The key you are showing is filled in.' : 'Show a key above to fill it in.'}
        </p>
      </Section>
    </Frame>
  )
}

const hidden = (key: string) => `${key.slice(0, 4)}${'•'.repeat(20)}${key.slice(-4)}`

function KeyRow({ apiKey, isShown, onShow }: { apiKey: Key; isShown: boolean; onShow: () => void }) {
  const { key, createdAt, expiresAt } = apiKey
  return (
    <li className="flex items-center gap-3 px-3 py-2.5">
      <KeyRound className="size-4 shrink-0 text-muted max-sm:hidden" aria-hidden />
      <div className="min-w-0 flex-1">
        <code className={isShown ? 'block break-all' : 'block truncate'}>{isShown ? key : hidden(key)}</code>
        <div className="mt-0.5 flex flex-wrap items-center gap-x-3 text-xs text-muted">
          {expiresAt ? (
            <>
              <Status tone="warn">Replaced</Status>
              <span>
                works until <time dateTime={expiresAt}>{absoluteTime(expiresAt)}</time>
              </span>
            </>
          ) : (
            <Status tone="good">In use</Status>
          )}
          <span>
            created <Time at={createdAt} />
          </span>
        </div>
      </div>
      <Button variant="ghost" size="icon" hint={isShown ? 'Hide' : 'Show'} onClick={onShow}>
        {isShown ? <EyeOff /> : <Eye />}
      </Button>
      <CopyButton text={key} label="Copy the key" />
    </li>
  )
}

const overlaps = [
  { value: '1', label: 'One hour' },
  { value: '24', label: 'One day' },
  { value: '72', label: 'Three days' },
  { value: '168', label: 'One week' },
  { value: '720', label: '30 days' },
]

interface RotateProps {
  isOnlyOne: boolean
  onClose: () => void
  onDone: (keys: Key[]) => void
}

function Rotate({ isOnlyOne, onClose, onDone }: RotateProps) {
  const [overlap, setOverlap] = useState('24')
  const rotate = useAction({
    do: () => environments.rotateKey(Number(overlap)),
    refresh: ['environments', 'api-keys'],
    done: 'New key created. Put it into your programs before the old one expires',
    onDone: (after) => {
      onDone(after)
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title="Rotate the key"
      description="Creates a new key. The current keys keep working for a while, so that no program fails."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" pending={rotate.isPending} onClick={() => rotate.mutate()}>
            Create new key
          </Button>
        </>
      }
    >
      <FieldFrame
        label={isOnlyOne ? 'Keep the old key for' : 'Keep the old keys for'}
        hint="A key that expires sooner still does."
      >
        {(control) => <Select {...control} value={overlap} onValue={setOverlap} options={overlaps} />}
      </FieldFrame>
    </Dialog>
  )
}
