// Which environment is looked at: it stands in the URL as `?env=production`, so that a link opens where it was copied.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { type Environment, useSession } from '../api/auth.ts'
import { setEnvironment } from '../api/client.ts'

const remembered = 'belfry-environment'

const slugOf = (environment: Environment, all: Environment[]) => {
  const slug = (one: Environment) => one.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const isAlone = all.filter((other) => slug(other) === slug(environment)).length === 1
  return isAlone && slug(environment) !== '' ? slug(environment) : environment._id
}

/** For the shell. Also tells requests which environment they are about, before any page below is drawn. */
export function useChosenEnvironment(): Environment {
  const { environments } = useSession()
  const { env } = useSearch({ strict: false })
  const navigate = useNavigate()
  const bySlug = (slug: unknown) => environments.find((one) => slugOf(one, environments) === slug || one._id === slug)
  const chosen = bySlug(env) ?? bySlug(localStorage.getItem(remembered)) ?? environments[0]
  if (!chosen) throw new Error('This organization has no environment.')
  const slug = slugOf(chosen, environments)
  setEnvironment(chosen._id)
  useEffect(() => {
    localStorage.setItem(remembered, slug)
    if (env === slug) return
    void navigate({ to: '.', replace: true, search: (before: object) => ({ ...before, env: slug }), hash: true })
  }, [env, slug, navigate])
  return chosen
}

/** For everybody below the shell. */
export function useEnvironment(): Environment {
  const { environments } = useSession()
  const { env } = useSearch({ strict: false })
  const chosen = environments.find((one) => slugOf(one, environments) === env || one._id === env) ?? environments[0]
  if (!chosen) throw new Error('This organization has no environment.')
  return chosen
}

/** Goes to another environment: the same page, without what was open and narrowed there. */
export function useSwitchEnvironment(): (to: Environment) => void {
  const { environments } = useSession()
  const navigate = useNavigate()
  return useCallback(
    (to: Environment) => {
      // Ids belong to one environment; the list they are in is on both.
      const [, section = ''] = window.location.pathname.split('/')
      void navigate({ to: `/${section}` as '/', search: { env: slugOf(to, environments) } })
    },
    [environments, navigate],
  )
}
