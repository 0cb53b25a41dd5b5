// Where one is signed in.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Laptop, LogOut } from 'lucide-react'
import { auth } from '../../api/auth.ts'
import { cache, useAction } from '../../api/cache.ts'
import type { Answer } from '../../api/client.ts'
import { Button } from '../../ui/base/button.tsx'
import { Loaded } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'

type SignedInBrowser = Answer<'GET /v1/auth/sessions'>[number]

export function Browsers() {
  const query = useQuery(auth.browsers())
  const navigate = useNavigate()
  const ask = useConfirm()
  const end = useAction({
    do: auth.endBrowser,
    done: 'Browser signed out',
    onDone: () => void cache.invalidateQueries({ queryKey: auth.browsers().queryKey }),
  })
  const endAll = useAction({
    do: auth.signOutEverywhere,
    onDone: () => {
      void navigate({ to: '/sign-in', search: {} }).then(() => cache.clear())
    },
  })
  const endOthers = useAction({
    do: auth.signOutOthers,
    done: ({ ended }) => (ended === 1 ? 'One browser signed out' : `${ended} browsers signed out`),
    onDone: () => void cache.invalidateQueries({ queryKey: auth.browsers().queryKey }),
  })
  const askEndAll = async (count: number) => {
    const body = `You will be signed out of ${count === 1 ? 'this browser' : `all ${count} browsers, this one too`}.`
    if (await ask({ title: 'Sign out everywhere?', body, confirm: 'Sign out everywhere' })) endAll.mutate()
  }
  return (
    <Loaded query={query}>
      {(browsers) => (
        <>
          <ul className="divide-y rounded-surface border">
            {browsers.map((browser) => (
              <BrowserRow
                key={browser._id}
                browser={browser}
                isPending={end.isPending && end.variables === browser._id}
                onEnd={() => end.mutate(browser._id)}
              />
            ))}
          </ul>
          <div className="mt-3 flex flex-wrap gap-2">
            {browsers.length > 1 && (
              <Button pending={endOthers.isPending} onClick={() => endOthers.mutate()}>
                Sign out all others
              </Button>
            )}
            <Button
              variant={browsers.length > 1 ? 'ghost' : 'secondary'}
              icon={<LogOut />}
              pending={endAll.isPending}
              onClick={() => void askEndAll(browsers.length)}
            >
              Sign out everywhere
            </Button>
          </div>
        </>
      )}
    </Loaded>
  )
}

function BrowserRow(props: { browser: SignedInBrowser; isPending: boolean; onEnd: () => void }) {
  const { browser, isPending, onEnd } = props
  return (
    <li className="flex items-center gap-3 px-3 py-2.5">
      <Laptop className="size-4 shrink-0 text-muted" aria-hidden />
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-2 text-sm">
          <span className="truncate font-medium">{browserName(browser.userAgent)}</span>
          {browser.isCurrent && <Badge tone="good">this browser</Badge>}
        </div>
        <div className="text-xs break-words text-muted">
          {browser.address} · signed in <Time at={browser.createdAt} /> · last used <Time at={browser.lastSeenAt} />
        </div>
      </div>
      {!browser.isCurrent && (
        <Button size="sm" pending={isPending} onClick={onEnd}>
          Sign out
        </Button>
      )}
    </li>
  )
}

/** "Firefox on Linux", as far as the user agent tells. */
function browserName(userAgent: string | null): string {
  const names = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari']
  const systems: Array<[pattern: RegExp, name: string]> = [
    [/iPhone|iPad/, 'iOS'],
    [/Android/, 'Android'],
    [/Mac OS X/, 'macOS'],
    [/Windows/, 'Windows'],
    [/Linux/, 'Linux'],
  ]
  const found = names.find((name) => userAgent?.includes(name))
  const name = { Edg: 'Edge', OPR: 'Opera' }[found ?? ''] ?? found ?? 'Unknown browser'
  const system = systems.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1]
  return system ? `${name} on ${system}` : name
}
