// Settings of the organization, and a link to the account.
import { useQuery } from '@tanstack/react-query'
import { CircleUser, Trash2 } from 'lucide-react'
import { auth, useCan, useCanInOrganization, useSession } from '../../api/auth.ts'
import { cache, useAction } from '../../api/cache.ts'
import { environments, type Retention } from '../../api/environments.ts'
import { type OrganizationSettings, refreshTeam, team } from '../../api/team.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Avatar } from '../../ui/base/avatar.tsx'
import { Button, ButtonLink } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { counted } from '../../ui/base/counted.ts'
import { localeName, localeOptions } from '../../ui/base/locales.ts'
import { Loaded } from '../../ui/base/states.tsx'
import { Combobox } from '../../ui/form/combobox.tsx'
import { Field, FieldFrame, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Switch } from '../../ui/form/switch.tsx'
import { Facts, Page as Frame, Section } from '../../ui/frame/page.tsx'
import { ConsentSettings } from './consent.tsx'
import { FilesSettings } from './files.tsx'
import { GuardSettings } from './guards.tsx'
import { InboxSettings } from './inbox.tsx'

export function Page() {
  const canChange = useCan('admin')
  const canChangeAll = useCanInOrganization('admin')
  const { user } = useSession()
  const settings = useQuery(team.settings())
  const environment = useEnvironment()
  const retention = useQuery(environments.retention(environment._id))
  return (
    <Frame title="Settings" width="content">
      {!canChange && (
        <p className="mb-4 rounded-surface border bg-raised px-3 py-2 text-sm text-muted">
          You are {user.role === 'viewer' ? 'a viewer' : 'an editor'}: you can view these settings. Only admins and
          owners can change them.
        </p>
      )}
      <Section title="Organization" description="Its name is at the top left of every page.">
        <Organization canChange={canChangeAll} />
      </Section>
      <Section title="Languages" description="The default language is used where a translation is missing.">
        <Loaded query={settings}>{(data) => <Languages settings={data} canChange={canChangeAll} />}</Loaded>
      </Section>
      <Section title="Branding" description="The footer of emails that Belfry renders.">
        <Loaded query={settings}>{(data) => <Branding settings={data} canChange={canChangeAll} />}</Loaded>
      </Section>
      <Section title="Inbox" description={`What the browsers of subscribers may do in ${environment.name}.`}>
        <InboxSettings key={environment._id} canChange={canChange} />
      </Section>
      <Section title="Guards" description={`How many messages one person gets in ${environment.name}, and when.`}>
        <GuardSettings key={environment._id} canChange={canChange} />
      </Section>
      <Section
        title="Consent"
        description={`How people in ${environment.name} refuse messages, and when sending stops by itself.`}
      >
        <ConsentSettings key={environment._id} canChange={canChange} />
      </Section>
      <Section title="Files" description={`Workflows of ${environment.name} that are kept in a repository.`}>
        <FilesSettings key={environment._id} canChange={canChange} />
      </Section>
      <Section title="Retention" description={`How long ${environment.name} keeps activity and messages.`}>
        <Loaded query={retention}>
          {(data) => (
            <Periods key={environment._id} retention={data} canChange={canChange} environmentId={environment._id} />
          )}
        </Loaded>
      </Section>
      <Section title="Your account" description="Name, password, theme, and where you are signed in.">
        <div className="flex max-w-140 flex-wrap items-center gap-3 rounded-surface border px-3 py-2.5">
          <Avatar name={user.name || user.email} className="size-8" />
          <span className="min-w-40 flex-1 text-sm">
            <span className="block truncate font-medium" dir="auto">
              {user.name}
            </span>
            <span className="block truncate text-xs text-muted">
              {user.email} · <span className="capitalize">{user.role}</span>
            </span>
          </span>
          <ButtonLink to="/account" search={{}} icon={<CircleUser />}>
            Account and sessions
          </ButtonLink>
        </div>
      </Section>
    </Frame>
  )
}

function Organization({ canChange }: { canChange: boolean }) {
  const { organization } = useSession()
  const form = useForm({
    initial: { name: organization.name },
    submit: ({ name }) => team.rename(name.trim()),
    done: 'Name saved',
    onDone: () => void cache.invalidateQueries({ queryKey: auth.session().queryKey }),
  })
  return (
    <Form form={form} className="max-w-100">
      <Field form={form} name="name" label="Name">
        {(control) => <Input {...control} disabled={!canChange} dir="auto" />}
      </Field>
      <FormError form={form} />
      {canChange && (
        <SubmitButton form={form} disabled={!form.isDirty || form.values.name.trim() === ''}>
          Save
        </SubmitButton>
      )}
      <Facts facts={[['Id', <Id key="id" value={organization._id} />]]} />
    </Form>
  )
}

/** Shows the change at once, and restores the old value if the server refuses. */
function useSettingsChange() {
  return useAction({
    do: team.changeSettings,
    done: 'Saved',
    onDone: (after) => {
      cache.setQueryData(team.settings().queryKey, after)
      void refreshTeam()
    },
  })
}

function Languages({ settings, canChange }: { settings: OrganizationSettings; canChange: boolean }) {
  const change = useSettingsChange()
  const { defaultLocale, targetLocales } = settings
  const isOff = !canChange || change.isPending
  return (
    <div className="max-w-100 space-y-4">
      <FieldFrame label="Default language">
        {(control) => (
          <Combobox
            {...control}
            value={defaultLocale}
            onValue={(locale) => change.mutate({ defaultLocale: locale })}
            options={localeOptions()}
            display={`${localeName(defaultLocale)} (${defaultLocale})`}
            allowNew
            disabled={isOff}
          />
        )}
      </FieldFrame>
      <FieldFrame label="Translate into" hint="Offered on the translations page.">
        {(control) => (
          <Combobox
            {...control}
            value={undefined}
            onValue={(locale) => change.mutate({ targetLocales: [...targetLocales, locale] })}
            options={localeOptions().filter(({ value }) => value !== defaultLocale && !targetLocales.includes(value))}
            placeholder="Add a language…"
            allowNew
            disabled={isOff}
          />
        )}
      </FieldFrame>
      {targetLocales.length > 0 && (
        <ul aria-label="Languages" className="divide-y rounded-surface border">
          {targetLocales.map((locale) => (
            <li key={locale} className="flex min-h-10 items-center gap-2 pr-1 pl-3 text-sm">
              <span className="min-w-0 flex-1 truncate">{localeName(locale)}</span>
              <code className="text-muted">{locale}</code>
              {canChange && (
                <Button
                  variant="ghost"
                  size="icon"
                  hint={`Remove ${localeName(locale)}`}
                  disabled={isOff}
                  onClick={() => change.mutate({ targetLocales: targetLocales.filter((one) => one !== locale) })}
                >
                  <Trash2 />
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Branding({ settings, canChange }: { settings: OrganizationSettings; canChange: boolean }) {
  const change = useSettingsChange()
  // The operator of the server chooses the brand.
  const [name, isRemoved] = Object.entries(settings).find(([key]) => /^remove\w*Branding$/.test(key)) ?? []
  if (name === undefined) return null
  return (
    <FieldFrame
      label="Show branding in emails"
      hint={
        isRemoved ? 'Emails have only your content.' : 'Emails end with a small line that names the sender service.'
      }
      inline
    >
      {(control) => (
        <Switch
          {...control}
          value={isRemoved !== true}
          onValue={(isOn) => change.mutate({ [name]: !isOn })}
          disabled={!canChange || change.isPending}
        />
      )}
    </FieldFrame>
  )
}

const periods = [
  ['activityDays', 'Activity', 'Triggers, runs and their steps.'],
  ['messageDays', 'Messages', 'Sent email, SMS, chat and push messages.'],
  ['inboxDays', 'Inbox', 'Messages in the inboxes of subscribers.'],
] as const
const inDays = (days: number) => (days === 0 ? 'forever' : `for ${counted(days, 'day')}`)

interface PeriodsProps {
  retention: Retention
  environmentId: string
  canChange: boolean
}

/** An empty field uses the server's default. */
function Periods({ retention, environmentId, canChange }: PeriodsProps) {
  const valuesOf = (from: Retention) => ({
    activityDays: String(from.activityDays ?? ''),
    messageDays: String(from.messageDays ?? ''),
    inboxDays: String(from.inboxDays ?? ''),
  })
  const form = useForm({
    initial: valuesOf(retention),
    submit: (values) => {
      const wanted = Object.entries(values).map(([name, days]) => [name, days.trim() === '' ? null : Number(days)])
      return environments.changeRetention(environmentId, Object.fromEntries(wanted))
    },
    refresh: ['environments'],
    done: 'Retention saved',
    onDone: (saved) => form.reset(valuesOf(saved)),
  })
  return (
    <Form form={form} className="max-w-100">
      {periods.map(([name, label, hint]) => (
        <Field
          key={name}
          form={form}
          name={name}
          label={`${label}, days`}
          hint={`${hint} Empty: ${inDays(retention.usual[name])}, the default of this server. 0: forever.`}
        >
          {(control) => (
            <Input
              {...control}
              type="number"
              min={0}
              placeholder={String(retention.usual[name])}
              disabled={!canChange}
            />
          )}
        </Field>
      ))}
      <FormError form={form} />
      {canChange && (
        <SubmitButton form={form} disabled={!form.isDirty}>
          Save retention
        </SubmitButton>
      )}
    </Form>
  )
}
