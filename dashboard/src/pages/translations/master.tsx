// All texts of a locale in one file, for translation with other tools.
import { Download, Upload } from 'lucide-react'
import { useRef, useState } from 'react'
import { useAction } from '../../api/cache.ts'
import { type LocaleSettings, translations } from '../../api/translations.ts'
import { Button } from '../../ui/base/button.tsx'
import { counted } from '../../ui/base/counted.ts'
import { downloadJson } from '../../ui/base/download.ts'
import { localeOptions } from '../../ui/base/locales.ts'
import { readJsonObject } from '../../ui/code/json-editor.tsx'
import { Combobox } from '../../ui/form/combobox.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Dialog, DialogFooter } from '../../ui/frame/dialog.tsx'

interface MasterProps {
  open: boolean
  settings: LocaleSettings
  onClose: () => void
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const LocaleField = (props: { settings: LocaleSettings; value: string; onValue: (value: string) => void }) => (
  <FieldFrame label="Locale">
    {(control) => (
      <Combobox
        {...control}
        value={props.value}
        onValue={props.onValue}
        options={localeOptions(props.settings.defaultLocale, ...props.settings.targetLocales)}
      />
    )}
  </FieldFrame>
)

export const ExportMaster = ({ open, settings, onClose }: MasterProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Export a locale"
    description="One file with the texts of all workflows and layouts, to translate and import again."
  >
    {open && <ExportForm settings={settings} onClose={onClose} />}
  </Dialog>
)

function ExportForm({ settings, onClose }: Omit<MasterProps, 'open'>) {
  const [locale, setLocale] = useState(settings.defaultLocale)
  const save = useAction({
    do: () => translations.master(locale),
    done: ({ workflows, layouts }) =>
      `${locale}.json has ${counted(Object.keys(workflows).length, 'workflow')} and ${counted(Object.keys(layouts).length, 'layout')}`,
    onDone: (master) => {
      downloadJson(`${locale}.json`, master)
      onClose()
    },
  })
  return (
    <div className="space-y-4">
      <LocaleField settings={settings} value={locale} onValue={setLocale} />
      <DialogFooter>
        <Button onClick={onClose}>Cancel</Button>
        <Button variant="primary" icon={<Download />} pending={save.isPending} onClick={() => save.mutate()}>
          Download {locale}.json
        </Button>
      </DialogFooter>
    </div>
  )
}

export const ImportMaster = ({ open, settings, onClose }: MasterProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Import a locale"
    description="The texts in the file replace the current ones for every workflow and layout in it."
  >
    {open && <ImportForm settings={settings} onClose={onClose} />}
  </Dialog>
)

interface Chosen {
  name: string
  master: { workflows: Record<string, unknown>; layouts: Record<string, unknown> }
}

function ImportForm({ settings, onClose }: Omit<MasterProps, 'open'>) {
  const input = useRef<HTMLInputElement>(null)
  const [locale, setLocale] = useState(settings.targetLocales[0] ?? settings.defaultLocale)
  const [chosen, setChosen] = useState<Chosen>()
  const [problem, setProblem] = useState<string>()
  const send = useAction({
    do: (masterJson: Chosen['master']) => translations.importMaster({ locale, masterJson }),
    refresh: ['translations'],
  })
  const take = async (file: File | undefined) => {
    if (!file) return
    setProblem(undefined)
    const { value, problem } = readJsonObject(await file.text())
    const { workflows = {}, layouts = {} } = value ?? {}
    if (problem || !isObject(workflows) || !isObject(layouts)) {
      setProblem(`${file.name}: ${problem ?? '“workflows” and “layouts” must be objects.'}`)
      return
    }
    setChosen({ name: file.name, master: { workflows, layouts } })
    // An exported file is named after its locale.
    const [, named] = /^([a-z]{2,3}[_-][A-Z]{2})\.json$/.exec(file.name) ?? []
    if (named) setLocale(named.replace('-', '_'))
  }
  const result = send.data
  return (
    <div className="space-y-4">
      <div>
        <Button icon={<Upload />} onClick={() => input.current?.click()}>
          {chosen ? chosen.name : 'Choose a JSON file'}
        </Button>
        <input
          ref={input}
          type="file"
          aria-label="Master JSON file"
          accept=".json,application/json"
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            void take(event.target.files?.[0])
            event.target.value = ''
          }}
        />
        {chosen && (
          <p className="mt-1.5 text-xs text-muted">
            {Object.keys(chosen.master.workflows).length} workflows, {Object.keys(chosen.master.layouts).length} layouts
          </p>
        )}
        {problem && (
          <p role="alert" className="mt-1.5 text-xs text-bad">
            {problem}
          </p>
        )}
      </div>
      <LocaleField settings={settings} value={locale} onValue={setLocale} />
      {result && (
        <div role="status" className="rounded-control border px-3 py-2 text-sm">
          <p className="font-medium">{result.message}</p>
          {result.failed && <p className="mt-1 text-xs text-bad">Refused: {result.failed.join(', ')}</p>}
          {result.successful && <p className="mt-1 text-xs text-muted">Imported: {result.successful.join(', ')}</p>}
        </div>
      )}
      <DialogFooter>
        <Button onClick={onClose}>{result ? 'Done' : 'Cancel'}</Button>
        <Button
          variant="primary"
          disabled={!chosen}
          pending={send.isPending}
          onClick={() => chosen && send.mutate(chosen.master)}
        >
          Import {locale}
        </Button>
      </DialogFooter>
    </div>
  )
}
