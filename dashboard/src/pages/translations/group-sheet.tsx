// The translations of one workflow or layout: locales at the left, the texts of the selected one at the right.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download, Trash2, Upload } from 'lucide-react'
import { useRef } from 'react'
import { useCanEditContent, useCanInOrganization } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type LocaleSettings, type Resource, type TranslationGroup, translations } from '../../api/translations.ts'
import { Button } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { downloadJson } from '../../ui/base/download.ts'
import { localeName, localeOptions, localeProblem } from '../../ui/base/locales.ts'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { Combobox } from '../../ui/form/combobox.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/frame/menu.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'
import { TextsEditor } from './texts-editor.tsx'

const schema = { locale: text() }

interface GroupSheetProps {
  resource: Resource | undefined
  settings: LocaleSettings | undefined
  onClose: () => void
}

export function GroupSheet({ resource, settings, onClose }: GroupSheetProps) {
  const query = useQuery({
    ...translations.group(resource ?? { resourceType: 'workflow', resourceId: '' }),
    enabled: resource !== undefined,
  })
  const title = query.data?.resourceName ?? resource?.resourceId ?? ''
  return (
    <Sheet
      open={resource !== undefined}
      onClose={onClose}
      wide
      label={title}
      title={<span dir="auto">{title}</span>}
      subtitle={
        resource && (
          <Link
            to={`/${resource.resourceType}s/${encodeURIComponent(resource.resourceId)}` as '/'}
            search={{}}
            className="hover:underline"
          >
            Open the {resource.resourceType} <code>{resource.resourceId}</code>
          </Link>
        )
      }
      actions={query.data && <GroupActions group={query.data} onDeleted={onClose} />}
    >
      {resource && (
        <Loaded query={query} skeleton={<SkeletonText lines={8} />}>
          {(group) => (
            <Group
              group={group}
              settings={settings}
              defaultLocale={settings?.defaultLocale ?? group.locales[0] ?? ''}
            />
          )}
        </Loaded>
      )}
    </Sheet>
  )
}

interface GroupProps {
  group: TranslationGroup
  settings: LocaleSettings | undefined
  defaultLocale: string
}

function Group({ group, settings, defaultLocale }: GroupProps) {
  const [{ locale: chosen }, set] = useUrlState(schema)
  const { locales, outdatedLocales = [] } = group
  const locale = locales.includes(chosen) ? chosen : defaultLocale
  return (
    <div className="grid gap-6 md:grid-cols-[220px_1fr]">
      <nav aria-label="Locales" className="flex gap-1 max-md:overflow-x-auto md:flex-col">
        {locales.map((one) => (
          <button
            key={one}
            type="button"
            aria-current={one === locale ? 'true' : undefined}
            onClick={() => set({ locale: one === defaultLocale ? '' : one })}
            className={cn(
              'flex min-h-10 shrink-0 flex-col items-start justify-center rounded-control px-3 py-1.5 text-left text-sm hover:bg-hover',
              one === locale && 'bg-hover font-medium',
            )}
          >
            <span className="flex w-full items-center gap-2">
              <span className="min-w-0 break-words">{localeName(one)}</span>
              {one === defaultLocale ? (
                <Badge>Default</Badge>
              ) : (
                outdatedLocales.includes(one) && <Badge tone="warn">Outdated</Badge>
              )}
            </span>
            <code className="text-xs font-normal text-muted">{one}</code>
          </button>
        ))}
        {settings && <AddLanguage settings={settings} onAdded={(added) => set({ locale: added })} />}
      </nav>
      <div className="min-w-0">
        <TextsOf group={group} locale={locale} defaultLocale={defaultLocale} />
      </div>
    </div>
  )
}

/** The languages are those of the organization, so an admin adds them. */
function AddLanguage({ settings, onAdded }: { settings: LocaleSettings; onAdded: (locale: string) => void }) {
  const canAdd = useCanInOrganization('admin')
  const { defaultLocale, targetLocales } = settings
  const known = new Set([defaultLocale, ...targetLocales])
  const add = useAction({
    do: async (locale: string) => {
      const problem = localeProblem(locale)
      if (problem !== undefined) throw new Error(problem)
      await translations.changeLocales({ defaultLocale, targetLocales: [...targetLocales, locale] })
      return locale
    },
    refresh: ['translations'],
    done: (locale) => `${localeName(locale)} added`,
    onDone: onAdded,
  })
  if (!canAdd)
    return <p className="px-3 py-1.5 text-xs text-muted max-md:hidden">An admin can add languages, under Locales.</p>
  return (
    <Combobox
      aria-label="Add a language"
      placeholder={add.isPending ? 'Adding…' : 'Add a language'}
      className="shrink-0 max-md:w-44 md:mt-1"
      disabled={add.isPending}
      allowNew
      value={undefined}
      onValue={(locale) => add.mutate(locale)}
      options={localeOptions().filter(({ value }) => !known.has(value))}
    />
  )
}

interface TextsProps {
  group: TranslationGroup
  locale: string
  defaultLocale: string
}

function TextsOf({ group, locale, defaultLocale }: TextsProps) {
  const texts = useQuery(translations.texts(group, locale))
  const original = useQuery(translations.texts(group, defaultLocale))
  return (
    <Loaded query={original} skeleton={<SkeletonText lines={6} />}>
      {({ content: source }) => (
        <Loaded query={texts} skeleton={<SkeletonText lines={6} />}>
          {({ content, updatedAt }) => (
            <TextsEditor
              key={`${locale} ${updatedAt}`}
              resource={group}
              locale={locale}
              isDefault={locale === defaultLocale}
              defaultLocale={defaultLocale}
              original={source}
              stored={content}
              updatedAt={updatedAt}
              isOutdated={group.outdatedLocales?.includes(locale) ?? false}
            />
          )}
        </Loaded>
      )}
    </Loaded>
  )
}

function GroupActions({ group, onDeleted }: { group: TranslationGroup; onDeleted: () => void }) {
  const canEdit = useCanEditContent()
  const ask = useConfirm()
  const input = useRef<HTMLInputElement>(null)
  const upload = useAction({
    do: (files: File[]) => translations.upload(group, files),
    refresh: ['translations'],
    done: ({ successfulUploads, errors }) =>
      `${successfulUploads} ${successfulUploads === 1 ? 'locale is' : 'locales are'} written${errors.length > 0 ? `. Refused: ${errors.join('; ')}` : ''}`,
  })
  const saveAll = useAction({
    do: async () => {
      const all = await Promise.all(
        group.locales.map(async (locale) => ({ locale, ...(await translations.textsOnce(group, locale)) })),
      )
      return all.filter(({ updatedAt }) => updatedAt !== null)
    },
    done: (saved) => `${saved.length} ${saved.length === 1 ? 'file' : 'files'} saved`,
    onDone: (saved) => {
      for (const { locale, content } of saved) downloadJson(`${locale}.json`, content)
    },
  })
  const remove = useAction({
    do: () => translations.removeAll(group),
    refresh: ['translations', 'workflows', 'layouts'],
    done: `${group.resourceName} is no longer translated`,
    onDone: onDeleted,
  })
  const confirmRemove = async () => {
    const yes = await ask({
      title: `Stop translating ${group.resourceName}?`,
      body: `Its texts in ${new Intl.ListFormat('en').format(group.locales.map(localeName))} are deleted. Messages whose templates still use them will fail. This cannot be undone; download the files first to keep them.`,
      confirm: 'Delete all texts',
    })
    if (yes) remove.mutate()
  }
  return (
    <>
      {canEdit && (
        <>
          <Button
            icon={<Upload />}
            pending={upload.isPending}
            hint="JSON files named after their locales: de_DE.json"
            onClick={() => input.current?.click()}
          >
            <span className="max-sm:sr-only">Upload files</span>
          </Button>
          <input
            ref={input}
            type="file"
            multiple
            aria-label="Translation files"
            accept=".json,application/json"
            className="sr-only"
            tabIndex={-1}
            onChange={(event) => {
              upload.mutate([...(event.target.files ?? [])])
              event.target.value = ''
            }}
          />
        </>
      )}
      <Menu label={`Actions for ${group.resourceName}`}>
        <MenuItem icon={<Download />} onSelect={() => saveAll.mutate()}>
          Download all locales
        </MenuItem>
        {canEdit && (
          <>
            <MenuSeparator />
            <MenuItem icon={<Trash2 />} danger onSelect={() => void confirmRemove()}>
              Stop translating…
            </MenuItem>
          </>
        )}
      </Menu>
    </>
  )
}
