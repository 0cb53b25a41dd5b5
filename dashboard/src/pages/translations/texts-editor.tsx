// The texts of one locale beside those of the default locale, or as JSON.
import { Download, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useCanEditContent } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Resource, type Texts, translations } from '../../api/translations.ts'
import { Button } from '../../ui/base/button.tsx'
import { downloadJson } from '../../ui/base/download.ts'
import { directionOf, localeName } from '../../ui/base/locales.ts'
import { Badge } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { JsonEditor, jsonText, readJsonObject } from '../../ui/code/json-editor.tsx'
import { FormError, useForm, useUnsavedGuard } from '../../ui/form/form.tsx'
import { Input, Textarea } from '../../ui/form/input.tsx'
import { Segments } from '../../ui/frame/tabs.tsx'
import { flat, idOf, nameOf, withText } from './texts.ts'

interface TextsEditorProps {
  resource: Resource
  locale: string
  isDefault: boolean
  defaultLocale: string
  original: Texts
  stored: Texts
  updatedAt: string | null
  /** A text of the default locale is missing here or is newer. */
  isOutdated: boolean
}

export function TextsEditor(props: TextsEditorProps) {
  const { resource, locale, isDefault, defaultLocale, original, stored, updatedAt, isOutdated } = props
  const canEdit = useCanEditContent()
  // Not in the URL: navigating would ask about unsaved changes.
  const [view, setView] = useState<'texts' | 'json'>('texts')
  const form = useForm({
    initial: { json: jsonText(stored) },
    submit: ({ json }) => translations.write(resource, locale, readJsonObject(json).value ?? {}),
    refresh: ['translations'],
    done: `${localeName(locale)} saved`,
  })
  useUnsavedGuard(form.isDirty && canEdit)
  const remove = useAction({
    do: () => translations.removeLocale(resource, locale),
    refresh: ['translations'],
    done: `Texts in ${localeName(locale)} deleted`,
    undo: () => translations.write(resource, locale, stored),
  })
  const { value, problem } = readJsonObject(form.values.json)
  const change = (texts: Texts) => form.set({ json: jsonText(texts) })
  const own = new Set(flat(stored).map(({ path }) => idOf(path)))
  const missing = flat(original).filter(({ path }) => !own.has(idOf(path))).length
  return (
    <div>
      {isOutdated && updatedAt && (
        <div className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-control border border-warn/30 bg-warn/8 px-3 py-2 text-sm">
          <p className="min-w-48 flex-1">
            {missing > 0
              ? `${missing} of the texts in ${localeName(defaultLocale)} ${missing === 1 ? 'is' : 'are'} missing here.`
              : `${localeName(defaultLocale)} changed after this. Check that the texts still match.`}
          </p>
          {missing === 0 && canEdit && !form.isDirty && (
            <Button size="sm" pending={form.isPending} onClick={form.submit}>
              Mark as up to date
            </Button>
          )}
        </div>
      )}
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <Segments
          label="View"
          value={view}
          onValue={setView}
          options={[
            { value: 'texts', label: 'Texts' },
            { value: 'json', label: 'JSON' },
          ]}
        />
        <span className="mr-auto text-xs text-muted">
          {updatedAt ? (
            <>
              Written <Time at={updatedAt} />
            </>
          ) : (
            'No texts yet'
          )}
        </span>
        {updatedAt && (
          <Button
            variant="ghost"
            size="icon"
            hint={`Download ${locale}.json`}
            onClick={() => downloadJson(`${locale}.json`, stored)}
          >
            <Download />
          </Button>
        )}
        {updatedAt && canEdit && (
          <Button
            variant="ghost"
            size="icon"
            hint={`Delete the texts in ${locale}`}
            pending={remove.isPending}
            onClick={() => remove.mutate()}
          >
            <Trash2 />
          </Button>
        )}
      </div>
      {view === 'json' || value === undefined ? (
        <JsonEditor
          aria-label={`Texts in ${locale}`}
          value={form.values.json}
          onValue={(json) => form.set({ json })}
          readOnly={!canEdit}
          className="min-h-64"
        />
      ) : (
        <TextRows
          texts={value}
          original={isDefault ? value : original}
          isDefault={isDefault}
          defaultLocale={defaultLocale}
          locale={locale}
          canEdit={canEdit}
          onTexts={change}
        />
      )}
      <div className="mt-4 space-y-3">
        <FormError form={form} />
        {canEdit && form.isDirty && (
          <div className="flex gap-2">
            <Button variant="primary" pending={form.isPending} disabled={problem !== undefined} onClick={form.submit}>
              Save {locale}
            </Button>
            <Button onClick={() => form.reset()}>Discard</Button>
          </div>
        )}
      </div>
    </div>
  )
}

interface TextRowsProps {
  texts: Texts
  original: Texts
  isDefault: boolean
  defaultLocale: string
  locale: string
  canEdit: boolean
  onTexts: (texts: Texts) => void
}

function TextRows({ texts, original, isDefault, defaultLocale, locale, canEdit, onTexts }: TextRowsProps) {
  const own = new Map(flat(texts).map(({ path, text }) => [idOf(path), text]))
  const source = flat(original)
  const known = new Set(source.map(({ path }) => idOf(path)))
  // An emptied text keeps its row until it is saved, so that the user can write it again.
  const [emptied, setEmptied] = useState<string[][]>([])
  const more = [...flat(texts).map(({ path }) => path), ...emptied].filter((path) => !known.has(idOf(path)))
  const rows = [
    ...source.map(({ path, text }) => ({ path, from: text })),
    ...unique(more).map((path) => ({ path, from: undefined })),
  ]
  const write = (path: string[], text: string) => {
    if (text === '') setEmptied((before) => unique([...before, path]))
    onTexts(withText(texts, path, text))
  }
  return (
    <div>
      {rows.length === 0 && (
        <p className="rounded-surface border border-dashed px-4 py-8 text-center text-sm text-muted">
          {isDefault
            ? 'No texts yet. Add the first below, or upload a file.'
            : `No texts in ${localeName(defaultLocale)} to translate yet. Start there.`}
        </p>
      )}
      <ul className="space-y-4">
        {rows.map(({ path, from }) => {
          const name = nameOf(path)
          const text = own.get(idOf(path)) ?? ''
          return (
            <li key={idOf(path)}>
              <div className="mb-1 flex items-center gap-2">
                <code className="truncate text-muted">{name}</code>
                {text === '' && <Badge tone="warn">Missing</Badge>}
                {!isDefault && from === undefined && <Badge tone="warn">Not in {localeName(defaultLocale)}</Badge>}
              </div>
              {!isDefault && from !== undefined && (
                <p className="mb-1.5 text-sm break-words whitespace-pre-wrap" dir="auto">
                  {from}
                </p>
              )}
              <Textarea
                aria-label={`${name} in ${locale}`}
                rows={1}
                dir={directionOf(locale)}
                lang={locale.replace('_', '-')}
                disabled={!canEdit}
                value={text}
                onValue={(next) => write(path, next)}
                className="min-h-8"
              />
            </li>
          )
        })}
      </ul>
      {isDefault && canEdit && <AddKey taken={known} onAdd={(path) => setEmptied((before) => [...before, path])} />}
    </div>
  )
}

const unique = (paths: string[][]): string[][] => [...new Map(paths.map((path) => [idOf(path), path])).values()]

function AddKey({ taken, onAdd }: { taken: ReadonlySet<string>; onAdd: (path: string[]) => void }) {
  const [typed, setTyped] = useState('')
  const path = typed.trim().split('.').filter(Boolean)
  const isTaken = taken.has(idOf(path))
  return (
    <form
      className="mt-4 flex gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (path.length === 0 || isTaken) return
        onAdd(path)
        setTyped('')
      }}
    >
      <Input
        aria-label="New key"
        placeholder="order.title"
        spellCheck={false}
        value={typed}
        onValue={setTyped}
        className="max-w-64 font-mono text-code"
      />
      <Button type="submit" icon={<Plus />} disabled={path.length === 0 || isTaken}>
        Add key
      </Button>
    </form>
  )
}
