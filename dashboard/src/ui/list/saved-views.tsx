// The views of a list that the user has saved: chosen from a menu, named, renamed and deleted there.
import { useQuery } from '@tanstack/react-query'
import { Bookmark, BookmarkCheck, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useAction } from '../../api/cache.ts'
import { refreshViews, type SavedView, type ViewedPage, views } from '../../api/views.ts'
import { Button } from '../base/button.tsx'
import { Field, Form, FormFooter, useForm } from '../form/form.tsx'
import { Input } from '../form/input.tsx'
import { Dialog } from '../frame/dialog.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../frame/menu.tsx'

interface SavedViewsProps {
  page: ViewedPage
  /** The present filters and order as a query string, in a fixed order; empty for the whole list. */
  search: string
  onSearch: (search: string) => void
}

export function SavedViews({ page, search, onSearch }: SavedViewsProps) {
  const saved = useQuery(views.of(page)).data ?? []
  const current = saved.find((view) => view.search === search)
  const [named, setNamed] = useState<{ view?: SavedView }>()
  const remove = useAction({
    do: ({ _id }: SavedView) => views.remove(_id),
    done: (_, { name }) => `The view “${name}” is deleted`,
    undo: (_, { name, search: before }) => views.save({ page, name, search: before }).then(refreshViews),
    onDone: () => void refreshViews(),
  })
  return (
    <>
      <Menu
        align="start"
        className="max-w-72"
        trigger={
          <Button size="sm" variant="ghost" icon={current ? <BookmarkCheck /> : <Bookmark />} className="max-w-60">
            <span className="truncate" dir="auto">
              {current ? current.name : 'Views'}
            </span>
          </Button>
        }
      >
        {saved.length === 0 && <MenuLabel>Set filters, then save them as a view.</MenuLabel>}
        {saved.map((view) => (
          <MenuItem
            key={view._id}
            icon={view === current ? <BookmarkCheck /> : <Bookmark />}
            onSelect={() => onSearch(view.search)}
          >
            {view.name}
          </MenuItem>
        ))}
        <MenuSeparator />
        {current ? (
          <>
            <MenuItem icon={<Pencil />} onSelect={() => setNamed({ view: current })}>
              Rename “{current.name}”…
            </MenuItem>
            <MenuItem icon={<Trash2 />} danger onSelect={() => remove.mutate(current)}>
              Delete “{current.name}”
            </MenuItem>
          </>
        ) : (
          <MenuItem icon={<Plus />} disabled={search === ''} onSelect={() => setNamed({})}>
            Save this view…
          </MenuItem>
        )}
      </Menu>
      {named && <NameDialog page={page} search={search} view={named.view} onClose={() => setNamed(undefined)} />}
    </>
  )
}

interface NameDialogProps {
  page: ViewedPage
  search: string
  view: SavedView | undefined
  onClose: () => void
}

function NameDialog({ page, search, view, onClose }: NameDialogProps) {
  const form = useForm({
    initial: { name: view?.name ?? '' },
    submit: ({ name }) => (view ? views.rename(view._id, name) : views.save({ page, name, search })),
    done: view ? 'View renamed' : 'View saved',
    onDone: () => {
      void refreshViews()
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title={view ? 'Rename the view' : 'Save this view'}
      description={view ? undefined : 'It keeps the filters and the order. Only you see it, in every environment.'}
    >
      <Form form={form}>
        <Field form={form} name="name" label="Name">
          {(control) => <Input {...control} autoFocus maxLength={60} placeholder="Pro plan" autoComplete="off" />}
        </Field>
        <FormFooter form={form} onClose={onClose} disabled={form.values.name.trim() === ''}>
          {view ? 'Rename' : 'Save view'}
        </FormFooter>
      </Form>
    </Dialog>
  )
}
