// What can be done with the chosen subscribers: into a topic, into a file, or deleted. One request for all of them.
import { useQuery } from '@tanstack/react-query'
import { Bell, Download, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Environment } from '../../api/auth.ts'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { nameOf, type Subscriber, subscribers } from '../../api/subscribers.ts'
import { topics } from '../../api/topics.ts'
import { Button } from '../../ui/base/button.tsx'
import { Combobox } from '../../ui/form/combobox.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Dialog, useConfirm } from '../../ui/frame/dialog.tsx'
import { Menu, MenuItem } from '../../ui/frame/menu.tsx'
import { SelectionBar } from '../../ui/list/table.tsx'
import { saveAs } from './export.tsx'

interface ChosenProps {
  chosen: readonly Subscriber[]
  onClear: () => void
  environment: Environment
}

const countOf = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'subscriber' : 'subscribers'}`

export function ChosenSubscribers({ chosen, onClear, environment }: ChosenProps) {
  const canEdit = useCan('editor')
  const ask = useConfirm()
  const [isAdding, setAdding] = useState(false)
  const ids = chosen.map(({ subscriberId }) => subscriberId)
  const remove = useAction({
    do: async () => {
      const names = chosen.slice(0, 3).map(nameOf)
      const more = chosen.length - names.length
      const who = new Intl.ListFormat('en').format([
        ...names,
        ...(more > 0 ? [`${more.toLocaleString('en')} more`] : []),
      ])
      const yes = await ask({
        title: `Delete ${countOf(chosen.length)}?`,
        body: `${who}. This also deletes their messages in the inbox, subscriptions to topics, credentials and preferences. Past runs stay in the activity, without the names. This cannot be undone.`,
        confirm: `Delete ${countOf(chosen.length)}`,
      })
      return yes ? subscribers.removeMany(ids) : undefined
    },
    refresh: ['subscribers', 'topics'],
    onDone: (result) => result && onClear(),
  })
  return (
    <>
      <SelectionBar count={chosen.length} onClear={onClear}>
        {canEdit && (
          <Button size="sm" icon={<Bell />} onClick={() => setAdding(true)}>
            Add to topic
          </Button>
        )}
        <Menu
          align="start"
          trigger={
            <Button size="sm" icon={<Download />}>
              Export
            </Button>
          }
        >
          <MenuItem onSelect={() => void saveAs(chosen, 'csv', environment)}>CSV, for spreadsheets</MenuItem>
          <MenuItem onSelect={() => void saveAs(chosen, 'json', environment)}>JSON, for programs</MenuItem>
        </Menu>
        {canEdit && (
          <Button size="sm" icon={<Trash2 />} pending={remove.isPending} onClick={() => remove.mutate()}>
            Delete
          </Button>
        )}
      </SelectionBar>
      {isAdding && <AddToTopic ids={ids} onClose={() => setAdding(false)} onDone={onClear} />}
    </>
  )
}

function AddToTopic({ ids, onClose, onDone }: { ids: string[]; onClose: () => void; onDone: () => void }) {
  const [topicKey, setTopicKey] = useState<string>()
  const [typed, setTyped] = useState('')
  const found = useQuery(topics.list({ limit: 20, ...(typed ? { name: typed } : {}) }))
  const add = useAction({
    do: (key: string) => topics.subscribe(key, { subscriptions: ids }),
    refresh: ['topics', 'subscribers'],
    done: ({ data }, key) => `${countOf(data.length)} ${data.length === 1 ? 'follows' : 'follow'} ${key}`,
    onDone: () => {
      onDone()
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Add ${countOf(ids.length)} to a topic`}
      description="For those who follow it already, nothing changes."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            disabled={!topicKey}
            pending={add.isPending}
            onClick={() => topicKey && add.mutate(topicKey)}
          >
            Add to topic
          </Button>
        </>
      }
    >
      <FieldFrame label="Topic" hint="Choose one, or type the key of a new one.">
        {(control) => (
          <Combobox
            {...control}
            aria-label="Topic"
            allowNew
            placeholder="product-news"
            value={topicKey}
            onValue={setTopicKey}
            onSearch={setTyped}
            isLoading={found.isFetching}
            options={(found.data?.data ?? []).map(({ key, name }) => ({
              value: key,
              label: name || key,
              ...(name ? { hint: key } : {}),
            }))}
          />
        )}
      </FieldFrame>
    </Dialog>
  )
}
