// Rotas: who is on duty now, who is next, and the week.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { CalendarClock } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { type Rota, rotas } from '../../api/rotas.ts'
import { Time } from '../../ui/base/time.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { NewButton, NothingYet } from '../../ui/list/new.tsx'
import { type Column, Table } from '../../ui/list/table.tsx'
import { flag, useUrlState } from '../../ui/list/url-state.ts'
import { RotaDialog } from './rota-form.tsx'
import { RotaSheet } from './rota-sheet.tsx'

const schema = { new: flag() }

const example = {
  ...{ rotaId: 'primary', name: 'Primary', timezone: 'Europe/Berlin' },
  shifts: [
    {
      ...{ start: '2026-11-02T09:00', rrule: 'FREQ=WEEKLY', duration: { amount: 1, unit: 'weeks' } },
      turns: [['ada'], ['bob']],
    },
  ],
}

const columns: Array<Column<Rota>> = [
  { id: 'name', header: 'Name', cell: ({ name }) => <span dir="auto">{name}</span> },
  { id: 'now', header: 'On duty now', cell: ({ rotaId }) => <OnDuty rotaId={rotaId} /> },
  { id: 'zone', header: 'Time zone', from: 'md', cell: ({ timezone }) => timezone },
  { id: 'id', header: 'Id', from: 'lg', cell: ({ rotaId }) => <code className="text-muted">{rotaId}</code> },
]

function OnDuty({ rotaId }: { rotaId: string }) {
  const { data } = useQuery(rotas.duties(rotaId, undefined, 1))
  const [now] = data ?? []
  if (!now) return <span className="text-muted">…</span>
  return (
    <span>
      {now.subscriberIds.length === 0 ? (
        <span className="text-muted">Nobody</span>
      ) : (
        <bdi>{now.subscriberIds.join(', ')}</bdi>
      )}
      {now.to && (
        <span className="text-muted">
          {' '}
          · changes <Time at={now.to} isAhead />
        </span>
      )}
    </span>
  )
}

export function Page() {
  const [state, setState] = useUrlState(schema)
  const { rotaId } = useParams({ strict: false })
  const navigate = useNavigate()
  const canEdit = useCan('editor')
  const list = useQuery(rotas.list())
  const create = () => setState({ new: true }, { push: true })
  return (
    <Frame title="Rotas" flush actions={canEdit && <NewButton onNew={create}>New rota</NewButton>}>
      <Table
        label="Rotas"
        columns={columns}
        rows={list.data?.data}
        rowKey={(rota) => rota.rotaId}
        rowLink={(rota) => ({ to: '/rotas/{-$rotaId}', params: { rotaId: rota.rotaId } })}
        selected={rotaId}
        query={list}
        empty={
          <NothingYet
            icon={<CalendarClock />}
            title="No rotas yet"
            button="New rota"
            onNew={canEdit && create}
            request={{ method: 'POST', path: '/v2/rotas', body: example }}
          >
            A rota says who is on duty when. A question can go to the person on duty:
          </NothingYet>
        }
      />
      <RotaSheet
        rotaId={rotaId}
        onClose={() => void navigate({ to: '/rotas/{-$rotaId}', params: { rotaId: undefined }, search: true })}
      />
      <RotaDialog open={canEdit && state.new} onClose={() => setState({ new: false })} />
    </Frame>
  )
}
