// Adds subscribers to a topic: by search, or as a pasted list of ids.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { toast } from 'sonner'
import { cache } from '../../api/cache.ts'
import { ApiError, inEnvironment } from '../../api/client.ts'
import { nameOf, subscribers } from '../../api/subscribers.ts'
import { topics } from '../../api/topics.ts'
import { Avatar } from '../../ui/base/avatar.tsx'
import { Button } from '../../ui/base/button.tsx'
import { ProgressBar } from '../../ui/base/states.tsx'
import { MultiCombobox } from '../../ui/form/combobox.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Textarea } from '../../ui/form/input.tsx'
import { Dialog, DialogFooter } from '../../ui/frame/dialog.tsx'

const perRequest = 100

interface Failure {
  subscriberId: string
  message: string
}

interface AddSubscribersProps {
  topicKey: string
  open: boolean
  onClose: () => void
}

export const AddSubscribers = ({ topicKey, open, onClose }: AddSubscribersProps) => (
  <Dialog open={open} onClose={onClose} title="Add subscribers" size="md">
    {open && <AddForm topicKey={topicKey} onClose={onClose} />}
  </Dialog>
)

/** Splits pasted ids at lines, commas, semicolons or tabs, with or without quotes. */
const idsIn = (text: string) =>
  text
    .split(/[\n,;\t]+/)
    .map((id) => id.trim().replaceAll(/^["']|["']$/g, ''))
    .filter((id) => id !== '')

/** If all ids are refused, the API throws an error that lists the reasons. */
async function subscribe(topicKey: string, ids: string[]): Promise<Failure[]> {
  try {
    return (await topics.subscribe(topicKey, { subscriptions: ids })).errors ?? []
  } catch (error) {
    const { errors } = error instanceof ApiError ? (error.ctx as { errors?: Failure[] }) : {}
    if (!errors) throw error
    return errors
  }
}

function AddForm({ topicKey, onClose }: Omit<AddSubscribersProps, 'open'>) {
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState<string[]>([])
  const [pasted, setPasted] = useState('')
  const [progress, setProgress] = useState<{ done: number; total: number }>()
  const [failures, setFailures] = useState<Failure[]>([])
  const search = typed.includes('@') ? { email: typed } : { name: typed }
  const found = useQuery(subscribers.list({ limit: 20, ...search }))
  const byId = useQuery({ ...subscribers.list({ limit: 1, subscriberId: typed }), enabled: typed !== '' })
  const people = [...(typed ? (byId.data?.data ?? []) : []), ...(found.data?.data ?? [])]
  const options = people
    .filter((one, index) => people.findIndex(({ _id }) => _id === one._id) === index)
    .map((one) => ({
      value: one.subscriberId,
      label: nameOf(one),
      hint: one.subscriberId,
      icon: <Avatar name={nameOf(one)} />,
    }))
  const ids = [...new Set([...chosen, ...idsIn(pasted)])]

  const add = async () => {
    setFailures([])
    const failed: Failure[] = []
    try {
      for (let done = 0; done < ids.length; done += perRequest) {
        setProgress({ done, total: ids.length })
        failed.push(...(await subscribe(topicKey, ids.slice(done, done + perRequest))))
      }
      const added = ids.length - failed.length
      if (added > 0)
        toast.success(
          `${added.toLocaleString('en')} ${added === 1 ? 'subscriber follows' : 'subscribers follow'} ${topicKey}`,
        )
      await Promise.all(
        ['topics', 'subscribers'].map((name) => cache.invalidateQueries({ queryKey: inEnvironment(name) })),
      )
      if (failed.length === 0) onClose()
      // Keep only the refused ids, so that the user can fix them.
      setChosen([])
      setPasted(failed.map(({ subscriberId }) => subscriberId).join('\n'))
      setFailures(failed)
    } catch (error) {
      toast.error((error as Error).message)
    }
    setProgress(undefined)
  }
  return (
    <div className="space-y-4">
      <FieldFrame label="Find">
        {(control) => (
          <MultiCombobox
            {...control}
            value={chosen}
            onValue={setChosen}
            options={options}
            onSearch={setTyped}
            isLoading={found.isFetching || byId.isFetching}
            placeholder="Name, address or id…"
          />
        )}
      </FieldFrame>
      <FieldFrame label="Or paste ids" hint="One per line, or separated by commas. Unknown ids are refused.">
        {(control) => (
          <Textarea
            {...control}
            rows={4}
            spellCheck={false}
            value={pasted}
            onValue={setPasted}
            className="max-h-60 font-mono text-code"
          />
        )}
      </FieldFrame>
      {failures.length > 0 && (
        <div role="alert" className="rounded-control border border-bad/30 bg-bad/8 px-3 py-2 text-sm">
          <p className="font-medium">
            {failures.length.toLocaleString('en')} {failures.length === 1 ? 'was' : 'were'} refused
          </p>
          <ul className="mt-1 max-h-32 overflow-y-auto text-xs text-muted">
            {failures.slice(0, 50).map(({ subscriberId, message }) => (
              <li key={subscriberId}>{message}</li>
            ))}
          </ul>
        </div>
      )}
      {progress && progress.total > perRequest && <ProgressBar {...progress} label="Adding…" />}
      <DialogFooter>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          disabled={ids.length === 0}
          pending={progress !== undefined}
          onClick={() => void add()}
        >
          {ids.length > 1 ? `Add ${ids.length.toLocaleString('en')} subscribers` : 'Add subscriber'}
        </Button>
      </DialogFooter>
    </div>
  )
}
