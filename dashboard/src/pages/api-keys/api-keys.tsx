// The keys programs use for this environment: shown to owners when asked for, rotated with an overlap, or replaced at once.
// An admin may make a new one too, and sees it until leaving the page.
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

type Key = Answer<'GET /v1/environments/api-keys'>[number]

const schema = { rotate: flag() }

export function Page() {
  const canChange = useCan('admin')
  const environment = useEnvironment()
  if (!canChange)
    return (
      <Frame title="API keys" width="content">
        <EmptyState icon={<KeyRound />} title="API keys are for admins">
          With a key one may do all an admin may in {environment.name}, so only admins make them and only owners see
          those there are. Ask one of them for a key, or for another role.
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
    refresh: ['environments'],
    done: 'There is a new key; all others are refused',
    onDone: remember,
  })
  const askReplace = async () => {
    const count = query.data?.length
    const [all, them] =
      count === 1
        ? ['The key you have now is', 'it']
        : [count === undefined ? 'All keys there are now are' : `All ${count} keys are`, 'them']
    const yes = await ask({
      title: `Replace the key of ${environment.name} at once?`,
      body: `${all} refused from this moment on. Every program that uses ${count === 1 ? 'it' : 'one of them'} stops triggering workflows in ${environment.name}, hashes for the inbox made with ${them} are no longer taken, and code-first workflows cannot be synced, until they have the new key. To give them time, rotate instead.`,
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
    <Frame
      title="API keys"
      width="content"
      description={`Programs prove with a key that they may use ${environment.name}.`}
    >
      <Section
        title="Keys"
        description="Whoever has one may do all an admin may, in this environment. Keep it on your servers."
      >
        {canSee ? (
          <Loaded query={query}>{list}</Loaded>
        ) : (
          <>
            <p className="mb-3 text-sm text-pretty text-muted">
              {made.length === 0
                ? 'Only owners see the keys there are. You can make a new one, which you are shown once.'
                : 'Put it into your programs now: when you leave this page, only owners can see it.'}
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
      <Section title="Identifier" description="Public: the inbox in your pages names the environment by it.">
        <Facts facts={[['Application identifier', <Id key="id" value={environment.identifier} />]]} />
      </Section>
      <Section title="First request" description="Triggers a workflow for one subscriber, who is made if need be.">
        <RequestCode
          {...(shownKey ? { apiKey: shownKey } : {})}
          request={{
            method: 'POST',
            path: '/v1/events/trigger',
            body: { name: 'order-shipped', to: { subscriberId: 'ada' }, payload: { orderId: 'A-1042' } },
          }}
        />
        <p className="mt-2 text-xs text-muted">
          {shownKey ? 'The key you are showing is filled in.' : 'A key that is shown above is filled in.'}
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
            made <Time at={createdAt} />
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
    refresh: ['environments'],
    done: 'There is a new key. Put it into your programs before the old one ends',
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
      description="A new key is made. What works now goes on working for a while, so that no program fails meanwhile."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" pending={rotate.isPending} onClick={() => rotate.mutate()}>
            Make a new key
          </Button>
        </>
      }
    >
      <FieldFrame
        label={isOnlyOne ? 'The old key works for another' : 'The old keys work for another'}
        hint="One that was to end sooner still does."
      >
        {(control) => <Select {...control} value={overlap} onValue={setOverlap} options={overlaps} />}
      </FieldFrame>
    </Dialog>
  )
}
