// Exports all subscribers, or those that match the filters, as a file.
import { Download } from 'lucide-react'
import { toast } from 'sonner'
import type { Environment } from '../../api/auth.ts'
import { api } from '../../api/client.ts'
import type { Subscriber } from '../../api/subscribers.ts'
import { Button } from '../../ui/base/button.tsx'
import { download } from '../../ui/base/download.ts'
import { ProgressBar } from '../../ui/base/states.tsx'
import { Job, keepWindowOpen, useJob } from '../../ui/domain/job.ts'
import { Menu, MenuItem, MenuLabel } from '../../ui/frame/menu.tsx'
import { asCsv } from './csv.ts'

interface Filters {
  name?: string
  email?: string
  phone?: string
  subscriberId?: string
  data?: string[]
}
interface ExportState {
  name: string
  done: number
  total: number | undefined
  isCanceled: boolean
}
type Format = 'csv' | 'json'

const exportJob = new Job<ExportState>()
const columns = [
  ...(['subscriberId', 'firstName', 'lastName', 'email', 'phone', 'avatar', 'locale', 'timezone', 'data'] as const),
  ...(['createdAt', 'updatedAt'] as const),
]

/** Oldest first, so that subscribers added meanwhile come last. */
async function readAll(filters: Filters, environment: Environment): Promise<Subscriber[] | undefined> {
  const all: Subscriber[] = []
  for (let after: string | null | undefined = undefined; after !== null; ) {
    if (exportJob.state?.isCanceled) return undefined
    const page: { data: Subscriber[]; next: string | null; totalCount: number; totalCountCapped: boolean } = await api(
      'GET /v2/subscribers',
      { query: { ...filters, limit: 100, orderDirection: 'ASC', after }, environmentId: environment._id },
    )
    all.push(...page.data)
    after = page.next
    exportJob.change({ done: all.length, total: page.totalCountCapped ? undefined : page.totalCount })
  }
  return all
}

const picked = (subscriber: Subscriber) =>
  Object.fromEntries(columns.map((column) => [column, subscriber[column] ?? null]))

async function asText(all: readonly Subscriber[], format: Format): Promise<string> {
  if (format === 'json') return `${JSON.stringify(all.map(picked), undefined, 2)}\n`
  return asCsv([[...columns], ...all.map((one) => columns.map((column) => one[column]))])
}

const fileOf = (format: Format, environment: Environment) =>
  `subscribers-${environment.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.${format}`

/** Saves subscribers that are there already. */
export async function saveAs(all: readonly Subscriber[], format: Format, environment: Environment): Promise<void> {
  const name = fileOf(format, environment)
  download(name, await asText(all, format), format === 'csv' ? 'text/csv' : 'application/json')
  toast.success(
    `${all.length.toLocaleString('en')} ${all.length === 1 ? 'subscriber' : 'subscribers'} exported to ${name}`,
  )
}

async function run(filters: Filters, format: Format, environment: Environment): Promise<void> {
  const name = fileOf(format, environment)
  exportJob.set({ name, done: 0, total: undefined, isCanceled: false })
  try {
    const all = await readAll(filters, environment)
    if (!all) return
    await saveAs(all, format, environment)
  } catch (error) {
    toast.error(`The export failed. ${(error as Error).message}`)
  } finally {
    exportJob.set(undefined)
  }
}

interface ExportMenuProps {
  filters: Filters
  total: number | undefined
  environment: Environment
}

export function ExportMenu({ filters, total, environment }: ExportMenuProps) {
  const job = useJob(exportJob)
  const start = (format: Format) => void keepWindowOpen(() => run(filters, format, environment))
  const isFiltered = Object.values(filters).some((value) => value !== undefined && value.length > 0)
  return (
    <Menu
      trigger={
        <Button icon={<Download />} pending={job !== undefined} disabled={!total}>
          Export
        </Button>
      }
    >
      <MenuLabel>{isFiltered ? 'Matching subscribers' : 'All subscribers'}</MenuLabel>
      <MenuItem onSelect={() => start('csv')}>CSV, for spreadsheets</MenuItem>
      <MenuItem onSelect={() => start('json')}>JSON, for programs</MenuItem>
    </Menu>
  )
}

export function ExportStrip() {
  const job = useJob(exportJob)
  if (!job) return null
  return (
    <div className="flex items-center gap-4 border-b bg-raised px-4 py-2.5 sm:px-6">
      <div className="min-w-0 flex-1">
        <ProgressBar done={job.done} label={`Exporting to ${job.name}`} {...(job.total ? { total: job.total } : {})} />
      </div>
      <Button size="sm" pending={job.isCanceled} onClick={() => exportJob.change({ isCanceled: true })}>
        Cancel
      </Button>
    </div>
  )
}
