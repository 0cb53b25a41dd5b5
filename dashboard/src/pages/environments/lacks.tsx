// What the target lacks for the chosen workflows, each with a link to the page of the target where it is mended.
import { Link } from '@tanstack/react-router'
import { TriangleAlert } from 'lucide-react'
import { type Environment, useSession } from '../../api/auth.ts'
import type { EnvironmentDiff } from '../../api/environments.ts'
import { slugOf } from '../../shell/environment.ts'
import { wordOf } from '../../ui/domain/step-kind.tsx'

export type Lack = EnvironmentDiff['lacks'][number]

const languages = new Intl.DisplayNames('en', { type: 'language' })
const several = (count: number) => `${count} ${count === 1 ? 'workflow' : 'workflows'}`

interface Words {
  sentence: string
  mend: string
  to: string
}

function wordsOf({ kind, name, workflowIds }: Lack, target: string): Words {
  const who = several(workflowIds.length)
  switch (kind) {
    case 'provider':
      return {
        sentence: `No active ${wordOf(name)} provider: ${who} would send nothing there.`,
        mend: 'Add a provider',
        to: '/integrations',
      }
    case 'variable':
      return {
        sentence: `The variable ${name} has no value in ${target}; ${who} ${workflowIds.length === 1 ? 'uses' : 'use'} it.`,
        mend: 'Set its value',
        to: `/variables/${encodeURIComponent(name)}`,
      }
    case 'translation':
      return {
        sentence: `${languages.of(name.replace('_', '-')) ?? name} has no texts for ${who}.`,
        mend: 'Translate',
        to: '/translations',
      }
    case 'rota':
      return {
        sentence: `${target} has no rota ${name}; ${who} would ask nobody at that level.`,
        mend: 'Add it',
        to: '/rotas',
      }
    case 'hmac':
      return {
        sentence: `HMAC is off in ${target}: anybody who knows a subscriber id can open that inbox.`,
        mend: 'Turn it on',
        to: '/integrations',
      }
    default:
      return { sentence: name, mend: 'Open', to: '/' }
  }
}

export function Lacks({ lacks, source, target }: { lacks: readonly Lack[]; source: Environment; target: Environment }) {
  const { environments } = useSession()
  if (lacks.length === 0) return null
  return (
    <section aria-label={`Missing in ${target.name}`} className="mb-6 rounded-surface border border-warn/30 bg-warn/8">
      <h3 className="flex items-center gap-2 px-3 pt-2.5 text-sm font-semibold">
        <TriangleAlert className="size-4 shrink-0 text-warn" aria-hidden />
        Before you publish
      </h3>
      <ul className="px-3 pt-1 pb-2">
        {lacks.map((lack) => {
          const { sentence, mend, to } = wordsOf(lack, target.name)
          // Texts are published with their workflow, so they are written in the source.
          const where = lack.kind === 'translation' ? source : target
          return (
            <li key={`${lack.kind} ${lack.name}`} className="flex flex-wrap items-baseline gap-x-3 py-1 pl-6 text-sm">
              <span className="min-w-0 flex-1 basis-60 text-pretty">{sentence}</span>
              <Link
                to={to as '/'}
                search={{ env: slugOf(where, environments) }}
                className="font-medium underline underline-offset-2"
              >
                {mend}
              </Link>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
