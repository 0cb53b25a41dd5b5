// The sizing table of docs/scale.md: results of one machine, scaled to other loads.
import { short } from './figures.ts'
import type { Result } from './results.ts'

/** Peak load relative to the daily average. */
const peakFactor = 10
/** The share of cores in use at the peak: the other half is for vacuum, backups, a restarting process, and bad luck. */
const busyShare = 0.5
const days = 90
const perDay = [100_000, 1_000_000, 10_000_000, 100_000_000]

export function sizing(results: Map<string, Result>): string {
  const measured = results.get('end-to-end')
  const rate = measured?.figures.find(({ id }) => id === 'single')?.ours
  const kbEach = results.get('soak')?.series?.samples?.at(-1)?.kbPerRun
  if (!measured || rate === undefined || kbEach === undefined)
    return 'Not measured yet: `npm run bench end-to-end soak`.'
  const perCore = rate / measured.machine.cores
  const rows = perDay.map((count) => {
    const peak = (count / 86_400) * peakFactor
    const cores = Math.max(1, Math.ceil(peak / perCore / busyShare))
    const cells = [short(count), `${short(peak)}/s`, short(cores), shape(cores), gigabytes(count * days * kbEach)]
    return `| ${cells.join(' | ')} |`
  })
  return [
    `| notifications a day | peak | cores in total | processes | disk for ${days} days |`,
    '|---|---|---|---|---|',
    ...rows,
    '',
    `One core handles ${short(perCore)} triggers a second, each in its own request and followed to its message, shared by the client, the`,
    `service and PostgreSQL (\`end-to-end\`, ${measured.date.slice(0, 10)}); one notification takes ${short(kbEach)} KB with all`,
    `its rows and indexes (\`soak\`). The peak is ${peakFactor} times the daily average and uses half of the cores.`,
  ].join('\n')
}

/** About half of the work is the database's, which runs on one machine up to some size. */
function shape(cores: number): string {
  if (cores <= 2) return 'one, with the embedded database'
  if (cores <= 8) return 'two `all` and a separate PostgreSQL'
  if (cores <= 32) return `${Math.ceil(cores / 6)} \`api\`, ${Math.ceil(cores / 3)} \`worker\`, a large PostgreSQL`
  return 'several cells, see below'
}

const gigabytes = (kb: number) => (kb > 2 ** 30 ? `${short(kb / 2 ** 30)} TB` : `${short(kb / 2 ** 20)} GB`)
