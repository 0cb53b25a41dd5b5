import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Toaster } from 'sonner'
import { cache, whenFactorIsRequired, whenSignedOut } from './api/cache.ts'
import { router } from './router.tsx'
import { useTheme } from './shell/theme.ts'
import { TooltipProvider } from './ui/base/tooltip.tsx'
import { ProofDialog } from './ui/domain/proof.tsx'
import { ConfirmProvider } from './ui/frame/dialog.tsx'
import './styles.css'

whenSignedOut(() => {
  cache.removeQueries({ queryKey: ['session'] })
  const { pathname, href } = router.state.location
  if (/^\/(sign-in|setup|invitation|forgot-password|reset)/.test(pathname)) return
  void router.navigate({ to: '/sign-in', search: { returnTo: href, env: undefined } })
})

whenFactorIsRequired(() => {
  cache.removeQueries({ queryKey: ['session'] })
  const { pathname, href } = router.state.location
  if (pathname === '/second-factor') return
  void router.navigate({ to: '/second-factor', search: { returnTo: href, env: undefined } })
})

function App() {
  const theme = useTheme()
  return (
    <QueryClientProvider client={cache}>
      <TooltipProvider>
        <ConfirmProvider>
          <RouterProvider router={router} />
          <ProofDialog />
          <Toaster
            theme={theme}
            position="bottom-right"
            toastOptions={{
              style: {
                background: 'var(--raised)',
                color: 'var(--ink)',
                borderColor: 'var(--line)',
                fontFamily: 'var(--font-sans)',
              },
            }}
          />
        </ConfirmProvider>
      </TooltipProvider>
    </QueryClientProvider>
  )
}

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
