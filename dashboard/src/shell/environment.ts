// The current environment. It is in the URL as `?env=production`, so that a link opens the same environment.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { type Environment, useSession } from '../api/auth.ts'
import { setEnvironment } from '../api/client.ts'

const storageKey = 'belfry-environment'

/** The name of an environment in addresses. */
export const slugOf = (environment: Environment, all: Environment[]) => {
  const slug = (one: Environment) => one.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const isAlone = all.filter((other) => slug(other) === slug(environment)).length === 1
  return isAlone && slug(environment) !== '' ? slug(environment) : environment._id
}

/** For the shell. Also sets the environment of all requests before any page below renders. */
export function useChosenEnvironment(): Environment {
  const { environments } = useSession()
  const { env } = useSearch({ strict: false })
  const navigate = useNavigate()
  const bySlug = (slug: unknown) => environments.find((one) => slugOf(one, environments) === slug || one._id === slug)
  const chosen = bySlug(env) ?? bySlug(localStorage.getItem(storageKey)) ?? environments[0]
  if (!chosen) throw new Error('This organization has no environment.')
  const slug = slugOf(chosen, environments)
  setEnvironment(chosen._id)
  useEffect(() => {
    localStorage.setItem(storageKey, slug)
    if (env === slug) return
    void navigate({ to: '.', replace: true, search: (before: object) => ({ ...before, env: slug }), hash: true })
  }, [env, slug, navigate])
  return chosen
}

/** For everything below the shell. */
export function useEnvironment(): Environment {
  const { environments } = useSession()
  const { env } = useSearch({ strict: false })
  const chosen = environments.find((one) => slugOf(one, environments) === env || one._id === env) ?? environments[0]
  if (!chosen) throw new Error('This organization has no environment.')
  return chosen
}

/** Switches the environment: opens the same page, without its sheet and filters. */
export function useSwitchEnvironment(): (to: Environment) => void {
  const { environments } = useSession()
  const navigate = useNavigate()
  return useCallback(
    (to: Environment) => {
      // Ids belong to one environment, so go to the list.
      const [, section = ''] = window.location.pathname.split('/')
      void navigate({ to: `/${section}` as '/', search: { env: slugOf(to, environments) } })
    },
    [environments, navigate],
  )
}
