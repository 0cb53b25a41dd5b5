// The frame around every page after sign-in: sidebar, drawer on a phone, palette.
import { Outlet, useNavigate } from '@tanstack/react-router'
import { Lock, Menu as MenuIcon, Search } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { lazy, Suspense, useEffect, useState } from 'react'
import { auth, useSession } from '../api/auth.ts'
import { cache, useAction } from '../api/cache.ts'
import { EnvironmentDot } from '../ui/base/avatar.tsx'
import { Button } from '../ui/base/button.tsx'
import { useShortcut } from '../ui/base/shortcuts.ts'
import { EmptyState } from '../ui/base/states.tsx'
import { sayWholeTexts } from '../ui/base/whole-texts.ts'
import { useChosenEnvironment } from './environment.ts'
import { HeldClock } from './held-clock.tsx'
import { Sidebar } from './sidebar.tsx'

const Keys = lazy(() => import('./keys.tsx').then((module) => ({ default: module.Keys })))
const Palette = lazy(() => import('./palette.tsx').then((module) => ({ default: module.Palette })))

export function AppShell() {
  const { environments } = useSession()
  return environments.length === 0 ? <NoEnvironment /> : <Frame />
}

/** An admin closed every environment to this person. */
function NoEnvironment() {
  const navigate = useNavigate()
  const signOut = useAction({
    do: auth.signOut,
    onDone: () => void navigate({ to: '/sign-in', search: {} }).then(() => cache.clear()),
  })
  return (
    <main className="grid min-h-dvh place-items-center">
      <EmptyState
        isPage
        icon={<Lock />}
        title="You have no access to any environment"
        action={
          <Button pending={signOut.isPending} onClick={() => signOut.mutate()}>
            Sign out
          </Button>
        }
      >
        Ask an admin or owner of the organization to give you a role in one.
      </EmptyState>
    </main>
  )
}

function Frame() {
  const environment = useChosenEnvironment()
  const [isDrawerOpen, setDrawerOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const [areKeysOpen, setKeysOpen] = useState(false)
  useEffect(sayWholeTexts, [])
  useShortcut('mod+k', () => setPaletteOpen((before) => !before))
  useShortcut('?', () => setKeysOpen(true))
  const search = () => {
    setDrawerOpen(false)
    setPaletteOpen(true)
  }
  return (
    <div className="grid h-dvh grid-rows-[auto_1fr] md:grid-cols-[232px_1fr] md:grid-rows-1">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50 focus:rounded-control focus:bg-page focus:px-3 focus:py-2"
      >
        Skip to the content
      </a>
      <aside className="hidden min-h-0 border-r bg-raised md:block">
        <Sidebar onSearch={search} />
      </aside>
      <header className="flex h-12 items-center gap-1 border-b bg-raised px-2 md:hidden">
        <Dialog.Root open={isDrawerOpen} onOpenChange={setDrawerOpen}>
          <Dialog.Trigger asChild>
            <Button variant="ghost" size="icon" aria-label="Open the menu">
              <MenuIcon />
            </Button>
          </Dialog.Trigger>
          <Dialog.Portal>
            <Dialog.Overlay className="fixed inset-0 z-40 animate-fade bg-[rgb(9_9_10/0.5)] md:hidden" />
            <Dialog.Content
              data-modal
              aria-describedby={undefined}
              className="fixed inset-y-0 left-0 z-50 w-70 animate-fade bg-raised shadow-float outline-none md:hidden"
            >
              <Dialog.Title className="sr-only">Menu</Dialog.Title>
              <Sidebar onSearch={search} onChosen={() => setDrawerOpen(false)} />
            </Dialog.Content>
          </Dialog.Portal>
        </Dialog.Root>
        <span className="flex min-w-0 flex-1 items-center justify-center gap-1.5 text-sm font-medium">
          <EnvironmentDot color={environment.color} />
          <span className="truncate">{environment.name}</span>
        </span>
        <Button variant="ghost" size="icon" aria-label="Search" onClick={search}>
          <Search />
        </Button>
      </header>
      <div className="flex min-h-0 min-w-0 flex-col">
        <HeldClock key={environment._id} />
        {/* The key remounts the page when the environment changes, so that no data of the old one stays visible. */}
        <main
          id="content"
          key={`content ${environment._id}`}
          tabIndex={-1}
          className="min-h-0 min-w-0 flex-1 overflow-y-auto outline-none"
        >
          <Outlet />
        </main>
      </div>
      {areKeysOpen && (
        <Suspense fallback={null}>
          <Keys onClose={() => setKeysOpen(false)} />
        </Suspense>
      )}
      {isPaletteOpen && (
        <Suspense fallback={null}>
          <Palette onClose={() => setPaletteOpen(false)} />
        </Suspense>
      )}
    </div>
  )
}
