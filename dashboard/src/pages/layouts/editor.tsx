// The layout editor: name and body at the left, a desktop and phone preview at the right.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { ChevronLeft, Star, Trash2 } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useCanEditContent } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { ApiError } from '../../api/client.ts'
import { type Layout, layouts } from '../../api/layouts.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { Id } from '../../ui/base/copy.tsx'
import { useShortcut } from '../../ui/base/shortcuts.ts'
import { ErrorState, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { JsonEditor, jsonText, readJsonObject } from '../../ui/code/json-editor.tsx'
import { variablesIn } from '../../ui/code/liquid.ts'
import { FilesBadge, FilesNote, useFilesRule } from '../../ui/domain/files-note.tsx'
import { EmailBody } from '../../ui/domain/message-frames.tsx'
import { SubjectTabs } from '../../ui/domain/subject-tabs.tsx'
import { EmailEditor, type EmailEditorType } from '../../ui/email/email-editor.tsx'
import { type EmailWidth, WidthSwitch } from '../../ui/email/width-switch.tsx'
import { FieldFrame, useUnsavedGuard } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Switch } from '../../ui/form/switch.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Menu, MenuItem } from '../../ui/frame/menu.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { useDeleteLayout } from './delete-layout.ts'
import { useMakeDefault } from './make-default.ts'
import { SaveLayout, StaleLayout } from './save-layout.tsx'
import { starterOf } from './starters.ts'

export function Page() {
  const { layoutId = '' } = useParams({ strict: false })
  const query = useQuery(layouts.one(layoutId))
  if (query.data) return <Editor key={query.data._id} layout={query.data} />
  return (
    <Frame title="Layout" heading={<BackTo title="Layout" />}>
      {query.error ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <SkeletonText lines={8} />
      )}
    </Frame>
  )
}

const BackTo = ({ title, isDefault = false }: { title: string; isDefault?: boolean }) => (
  <span className="flex items-center gap-2">
    <Link
      to="/layouts"
      search={{}}
      aria-label="All layouts"
      className="-ml-2 grid size-8 place-items-center rounded-control text-muted hover:bg-hover hover:text-ink"
    >
      <ChevronLeft className="size-5" />
    </Link>
    <span className="truncate" dir="auto" title={title}>
      {title}
    </span>
    {isDefault && (
      <span className="text-sm font-normal tracking-normal">
        <Badge tone="info">Default</Badge>
      </span>
    )}
  </span>
)

interface Draft {
  name: string
  body: string
  editorType: EmailEditorType
  isTranslationEnabled: boolean
}

const draftOf = ({ name, controls, isTranslationEnabled }: Layout): Draft => ({
  name,
  body: controls.values.email?.body ?? '',
  editorType: controls.values.email?.editorType ?? 'html',
  isTranslationEnabled,
})

interface Issue {
  message: string
  variableName?: string
}

/** What the server found wrong in the body. */
function issuesIn(error: Error | null): Issue[] {
  if (!(error instanceof ApiError)) return []
  const { controls } = error.ctx as { controls?: Record<string, Issue[]> }
  return controls?.['email.body'] ?? []
}

function Editor({ layout }: { layout: Layout }) {
  const { layoutId } = layout
  const environment = useEnvironment()
  const { isReadOnly } = useFilesRule(layout.files)
  const canEdit = useCanEditContent() && !isReadOnly
  const navigate = useNavigate()
  const ask = useConfirm()
  const [saved, setSaved] = useState(() => draftOf(layout))
  const [draft, setDraft] = useState(saved)
  const set = (patch: Partial<Draft>) => setDraft((before) => ({ ...before, ...patch }))
  const isDirty = JSON.stringify(draft) !== JSON.stringify(saved)
  const [revision, setRevision] = useState(layout.revision)
  const [isAsking, setAsking] = useState(false)
  const [newer, setNewer] = useState<Layout>()
  const save = useAction({
    do: ({ message = '', onto = revision, ...sent }: Draft & { message?: string; onto?: string | undefined }) => {
      const { name, body, editorType, isTranslationEnabled } = sent
      const email = { body, editorType }
      return layouts
        .change(layoutId, { name, isTranslationEnabled, controlValues: { email } }, { revision: onto, message })
        .catch(async (error: unknown) => {
          // Somebody else saved it: both sides are shown, and nothing is lost.
          if (error instanceof ApiError && error.status === 412) setNewer(await layouts.read(layoutId))
          throw error
        })
    },
    refresh: ['layouts', 'translations', 'versions'],
    quiet: true,
    done: 'Layout saved',
    onDone: (after, { message: _, onto: __, ...sent }) => {
      setSaved(sent)
      setRevision(after.revision)
      setAsking(false)
      setNewer(undefined)
    },
  })
  const takeTheirs = (theirs: Layout) => {
    setSaved(draftOf(theirs))
    setDraft(draftOf(theirs))
    setRevision(theirs.revision)
    setNewer(undefined)
    save.reset()
  }
  const adopt = useRef(takeTheirs)
  adopt.current = takeTheirs
  // What others saved is shown at once, unless there is something here to lose.
  useEffect(() => {
    if (!isDirty && !save.isPending && layout.revision !== revision) adopt.current(layout)
  }, [layout, revision, isDirty, save.isPending])
  // In Production a change says what it is for.
  const askAndSave = () => (environment.type === 'prod' ? setAsking(true) : save.mutate(draft))
  const makeDefault = useMakeDefault(layout)
  const remove = useDeleteLayout(layout, () => {
    setSaved(draft)
    void navigate({ to: '/layouts', search: {} })
  })
  useUnsavedGuard(isDirty && canEdit)
  useShortcut('mod+s', () => isDirty && askAndSave(), canEdit)

  // Issues of an earlier text do not apply to this one.
  const isAboutThis = save.variables?.body === draft.body
  const issues = useMemo(() => (isAboutThis ? issuesIn(save.error) : []), [isAboutThis, save.error])
  const variables = useMemo(() => variablesIn(layout.variables), [layout.variables])
  const inLists = useMemo(() => variablesIn(layout.variables, { inLists: true }), [layout.variables])
  const changeType = async (editorType: EmailEditorType) => {
    const yes = await ask({
      title: editorType === 'html' ? 'Write it in HTML?' : 'Build it of blocks?',
      body: 'The layout starts over: blocks cannot be converted to HTML here. Nothing changes until you save.',
      confirm: 'Start over',
      danger: false,
    })
    if (yes) set({ editorType, body: starterOf(editorType) })
  }
  return (
    <Frame
      title={saved.name}
      heading={
        <span className="flex min-w-0 items-center gap-2">
          <BackTo title={saved.name} isDefault={layout.isDefault} />
          <FilesBadge files={layout.files} />
          {!canEdit && <Badge className="max-sm:hidden">Read only</Badge>}
        </span>
      }
      fills
      actions={
        <>
          <SubjectTabs kind="layout" id={layout.layoutId} current="editor" />
          {canEdit && (
            <Button
              variant="primary"
              shortcut="mod+s"
              hint="Save the layout"
              disabled={!isDirty || draft.name.trim() === ''}
              pending={save.isPending}
              onClick={askAndSave}
            >
              {isDirty ? 'Save' : 'Saved'}
            </Button>
          )}
          {canEdit && (
            <Menu label="More actions">
              {!layout.isDefault && (
                <MenuItem icon={<Star />} onSelect={() => makeDefault.mutate()}>
                  Make default
                </MenuItem>
              )}
              <MenuItem icon={<Trash2 />} danger disabled={layout.isDefault} onSelect={() => remove.mutate()}>
                {layout.isDefault ? 'The default cannot be deleted' : 'Delete…'}
              </MenuItem>
            </Menu>
          )}
        </>
      }
    >
      <div className="flex h-full min-h-0 flex-col">
        <FilesNote subject={{ kind: 'layout', id: layoutId }} version={layout.version} files={layout.files} />
        <SaveLayout
          open={isAsking}
          onClose={() => setAsking(false)}
          isPending={save.isPending}
          onSave={(message) => save.mutate({ ...draft, message })}
        />
        <StaleLayout
          mine={draft}
          theirs={newer && draftOf(newer)}
          savedAt={newer?.updatedAt}
          isPending={save.isPending}
          onClose={() => setNewer(undefined)}
          onMine={() => newer && save.mutate({ ...draft, onto: newer.revision })}
          onTheirs={() => newer && takeTheirs(newer)}
        />
        <div className="grid min-h-0 flex-1 max-lg:overflow-y-auto lg:grid-cols-2">
          <div className="space-y-4 px-4 py-4 sm:px-6 lg:overflow-y-auto lg:border-r">
            <div className="grid gap-4 sm:grid-cols-2">
              <FieldFrame label="Name">
                {(control) => (
                  <Input
                    {...control}
                    dir="auto"
                    disabled={!canEdit}
                    value={draft.name}
                    onValue={(name) => set({ name })}
                  />
                )}
              </FieldFrame>
              <div>
                <div className="mb-1.5 text-sm font-medium">Identifier</div>
                <div className="flex h-8 items-center">
                  <Id value={layoutId} />
                </div>
              </div>
            </div>
            <EmailEditor
              label="Body"
              type={draft.editorType}
              onType={(type) => void changeType(type)}
              value={draft.body}
              onValue={(body) => set({ body })}
              variables={variables}
              variablesInLists={inLists}
              issues={issues}
              readOnly={!canEdit}
            />
            {save.error && isAboutThis && issues.length === 0 && (
              <p role="alert" className="rounded-control border border-bad/30 bg-bad/8 px-3 py-2 text-sm text-bad">
                {save.error.message}
              </p>
            )}
            <p className="text-xs text-muted">
              The content of the email goes where <code>{'{{content}}'}</code> is. You can also use subscriber, context
              and environment variables, but no payload: a layout serves many workflows.
            </p>
            <FieldFrame
              label="Translated"
              inline
              hint={
                <>
                  Use texts by key, <code>{'{{t.footer}}'}</code>, in each subscriber’s language.{' '}
                  {saved.isTranslationEnabled && (
                    <Link
                      to="/translations/{-$resource}"
                      params={{ resource: `layout:${layoutId}` }}
                      search={{}}
                      className="font-medium text-ink underline underline-offset-2"
                    >
                      Edit the texts
                    </Link>
                  )}
                </>
              }
            >
              {(control) => (
                <Switch
                  {...control}
                  value={draft.isTranslationEnabled}
                  disabled={!canEdit}
                  onValue={(isTranslationEnabled) => set({ isTranslationEnabled })}
                />
              )}
            </FieldFrame>
            <Usage layoutId={layoutId} isDefault={layout.isDefault} />
          </div>
          <Preview layoutId={layoutId} draft={draft} />
        </div>
      </div>
    </Frame>
  )
}

function Usage({ layoutId, isDefault }: { layoutId: string; isDefault: boolean }) {
  const { data } = useQuery(layouts.usage(layoutId))
  if (!data) return null
  const { workflows } = data
  return (
    <section aria-label="Used by" className="border-t pt-4 text-sm">
      <h2 className="font-semibold">Used by</h2>
      {isDefault && <p className="mt-1 text-muted">Every email without another layout.</p>}
      {workflows.length > 0 ? (
        <ul className="mt-1 space-y-1">
          {workflows.map(({ workflowId, name }) => (
            <li key={workflowId} className="truncate">
              <Link to={`/workflows/${encodeURIComponent(workflowId)}` as '/'} search={{}} className="hover:underline">
                {name}
              </Link>
            </li>
          ))}
        </ul>
      ) : (
        !isDefault && <p className="mt-1 text-muted">No email uses it yet. Choose it in an email step.</p>
      )}
    </section>
  )
}

/** The value, once the user pauses typing. */
function useDebounced<Value>(value: Value, ms = 300): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const pause = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(pause)
  }, [value, ms])
  return settled
}

function Preview({ layoutId, draft }: { layoutId: string; draft: Draft }) {
  const [width, setWidth] = useState<EmailWidth>('desktop')
  const [isEditingData, setEditingData] = useState(false)
  const [data, setData] = useState<string>()
  const { body, editorType } = draft
  const email = useMemo(() => ({ body, editorType }), [body, editorType])
  const settled = useDebounced(email)
  const given = data === undefined ? undefined : readJsonObject(data).value
  const previewPayload = useDebounced(data === undefined ? '' : data)
  const query = useQuery(
    layouts.preview(layoutId, {
      controlValues: { email: settled },
      ...(given && previewPayload ? { previewPayload: readJsonObject(previewPayload).value ?? {} } : {}),
    }),
  )
  const result = query.data?.result
  return (
    <section aria-label="Preview" className="flex min-h-120 flex-col bg-sunken max-lg:border-t lg:min-h-0">
      <div className="flex min-h-12 flex-wrap items-center gap-2 border-b bg-page px-4 py-2 sm:px-6">
        <h2 className="mr-auto text-sm font-semibold">Preview</h2>
        <Button size="sm" variant="ghost" aria-expanded={isEditingData} onClick={() => setEditingData(!isEditingData)}>
          Example data
        </Button>
        <WidthSwitch value={width} onValue={setWidth} />
      </div>
      {isEditingData && (
        <div className="border-b bg-page px-4 py-3 sm:px-6">
          <JsonEditor
            aria-label="Example data"
            value={data ?? jsonText(query.data?.previewPayloadExample)}
            onValue={setData}
            className="max-h-60"
          />
        </div>
      )}
      <div className="min-h-0 flex-1 overflow-y-auto p-4 sm:p-6">
        {result?.error ? (
          <div role="alert" className="rounded-surface border border-bad/30 bg-bad/8 px-4 py-3 text-sm">
            <p className="font-medium text-bad">Nothing to show yet</p>
            <p className="mt-1">{result.error.message}</p>
            {result.error.hint && <p className="mt-1 text-muted">{result.error.hint}</p>}
          </div>
        ) : result?.preview ? (
          <div
            className={cn(
              'mx-auto overflow-hidden rounded-surface border bg-page transition-[max-width] duration-180',
              width === 'phone' ? 'max-w-94' : 'max-w-3xl',
              query.isPlaceholderData && 'opacity-60',
            )}
          >
            <EmailBody html={result.preview.body} title="An email in this layout" />
          </div>
        ) : query.error ? (
          <ErrorState error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <SkeletonText lines={6} />
        )}
      </div>
    </section>
  )
}
