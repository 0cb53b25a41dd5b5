// Consent in the environment: the brand on its pages, the words of text messages, soft bounces and brakes.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type Consent, type ConsentChange, consent } from '../../api/consent.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Loaded } from '../../ui/base/states.tsx'
import { FieldFrame, Form, FormError, type FormState, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Input, Textarea } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Switch } from '../../ui/form/switch.tsx'
import { BrandPreview } from './brand-preview.tsx'

export function ConsentSettings({ canChange }: { canChange: boolean }) {
  const environment = useEnvironment()
  const query = useQuery(consent.of(environment._id))
  return (
    <Loaded query={query}>
      {(stored) => (
        <div className="space-y-8">
          <BrandForm stored={stored} canChange={canChange} />
          <SmsForm stored={stored} canChange={canChange} />
          <BrakesForm stored={stored} canChange={canChange} />
        </div>
      )}
    </Loaded>
  )
}

interface PartProps {
  stored: Consent
  canChange: boolean
}

/** A form of one part of the settings. */
function useConsentForm<Values extends object>(
  initial: Values,
  change: (values: Values) => ConsentChange,
  done: string,
): FormState<Values> {
  const environment = useEnvironment()
  return useForm({
    initial,
    submit: (values: Values) => consent.change(environment._id, change(values)),
    refresh: ['consent'],
    done,
  })
}

/** The server names a field by its part, as in `brakes.minimum`. */
const errorsOf = ({ errors }: Pick<FormState<object>, 'errors'>, part: string, name: string): string[] =>
  Object.entries(errors).flatMap(([field, messages]) =>
    field === `${part}.${name}` ? messages : messages.filter((message) => message.startsWith(`${part}.${name} `)),
  )

interface TextProps {
  form: FormState<Record<string, string>>
  part: string
  name: string
  label: string
  hint?: ReactNode
  disabled: boolean
  placeholder?: string
  maxLength?: number
  isLong?: boolean
}

function Text({ form, part, name, label, hint, isLong = false, ...rest }: TextProps) {
  const Field = isLong ? Textarea : Input
  return (
    <FieldFrame label={label} optional {...(hint ? { hint } : {})} errors={errorsOf(form, part, name)}>
      {(control) => (
        <Field
          {...control}
          {...rest}
          dir="auto"
          value={form.values[name] ?? ''}
          onValue={(text: string) => form.set({ [name]: text })}
        />
      )}
    </FieldFrame>
  )
}

const orNull = (text: string | undefined) => (text === undefined || text.trim() === '' ? null : text.trim())
const Heading = ({ children }: { children: ReactNode }) => <h3 className="mb-3 text-sm font-semibold">{children}</h3>

function BrandForm({ stored: { brand, footer }, canChange }: PartProps) {
  const form = useConsentForm<Record<string, string>>(
    {
      name: brand.name ?? '',
      logoUrl: brand.logoUrl ?? '',
      primaryColor: brand.primaryColor ?? '',
      postalAddress: brand.postalAddress ?? '',
      linkBaseUrl: brand.linkBaseUrl ?? '',
      footer: footer ? 'on' : 'off',
    },
    ({ footer, ...values }) => ({
      brand: Object.fromEntries(Object.entries(values).map(([name, text]) => [name, orNull(text)])),
      footer: footer === 'on',
    }),
    'Brand saved',
  )
  const { values } = form
  const common = { form, part: 'brand', disabled: !canChange }
  return (
    <div className="grid gap-6 lg:grid-cols-[minmax(0,400px)_minmax(0,1fr)]">
      <Form form={form}>
        <Heading>Brand</Heading>
        <Text {...common} name="name" label="Brand name" placeholder="Acme" />
        <Text {...common} name="logoUrl" label="Logo" placeholder="https://acme.example/logo.png" />
        <FieldFrame label="Color" optional errors={errorsOf(form, 'brand', 'primaryColor')}>
          {(control) => (
            <div className="flex gap-2">
              <input
                type="color"
                aria-label="Pick a color"
                disabled={!canChange}
                className="h-8 w-10 shrink-0 rounded-control border border-line-strong bg-page p-1"
                value={isColor(values.primaryColor) ? values.primaryColor : '#1f4fd8'}
                onChange={({ target }) => form.set({ primaryColor: target.value })}
              />
              <Input
                {...control}
                className="w-28 font-mono text-code"
                placeholder="#1f4fd8"
                disabled={!canChange}
                value={values.primaryColor ?? ''}
                onValue={(primaryColor) => form.set({ primaryColor })}
              />
            </div>
          )}
        </FieldFrame>
        <Text
          {...common}
          isLong
          name="postalAddress"
          label="Postal address"
          hint="Laws on commercial email ask for it. The footer and the pages show it."
        />
        <Text
          {...common}
          name="linkBaseUrl"
          label="Address of links"
          placeholder="https://mail.acme.example"
          hint="Has to lead to this service. Empty: the public address of the service."
        />
        <FieldFrame
          label="Add the footer"
          hint="To commercial emails without a link to unsubscribe: your name, your postal address and the links."
          inline
        >
          {(control) => (
            <Switch
              {...control}
              disabled={!canChange}
              value={values.footer === 'on'}
              onValue={(isOn) => form.set({ footer: isOn ? 'on' : 'off' })}
            />
          )}
        </FieldFrame>
        <FormError form={form} />
        {canChange && (
          <SubmitButton form={form} disabled={!form.isDirty}>
            Save brand
          </SubmitButton>
        )}
      </Form>
      <BrandPreview
        brand={{
          name: orNull(values.name),
          logoUrl: orNull(values.logoUrl),
          primaryColor: isColor(values.primaryColor) ? values.primaryColor : '#1f4fd8',
          postalAddress: orNull(values.postalAddress),
        }}
      />
    </div>
  )
}

const isColor = (text: string | undefined): text is string => /^#[0-9a-f]{6}$/i.test(text ?? '')

const stopScopes = [
  { value: 'all', label: 'Every text message' },
  { value: 'commercial', label: 'Commercial ones only' },
] as const

function SmsForm({ stored: { sms }, canChange }: PartProps) {
  const form = useConsentForm<Record<string, string>>(
    {
      keywords: sms.keywords ? 'on' : 'off',
      scope: sms.scope,
      stopReply: sms.stopReply ?? '',
      startReply: sms.startReply ?? '',
      helpReply: sms.helpReply ?? '',
      extraStopWords: sms.extraStopWords.join(', '),
    },
    ({ keywords, scope, extraStopWords = '', ...replies }) => ({
      sms: {
        ...Object.fromEntries(Object.entries(replies).map(([name, text]) => [name, orNull(text)])),
        keywords: keywords === 'on',
        scope: scope === 'commercial' ? 'commercial' : 'all',
        extraStopWords: extraStopWords
          .split(',')
          .map((word) => word.trim())
          .filter((word) => word !== ''),
      },
    }),
    'Words of text messages saved',
  )
  const { values } = form
  const common = { form, part: 'sms', disabled: !canChange || values.keywords === 'off' }
  return (
    <Form form={form} className="max-w-140">
      <Heading>Text messages</Heading>
      <FieldFrame
        label="Obey STOP, START and HELP"
        hint="Off: your SMS provider does it. Point its inbound address here to use this."
        inline
      >
        {(control) => (
          <Switch
            {...control}
            disabled={!canChange}
            value={values.keywords === 'on'}
            onValue={(isOn) => form.set({ keywords: isOn ? 'on' : 'off' })}
          />
        )}
      </FieldFrame>
      <FieldFrame label="A STOP refuses">
        {(control) => (
          <Select
            {...control}
            aria-label="A STOP refuses"
            className="w-60"
            disabled={common.disabled}
            value={values.scope === 'commercial' ? 'commercial' : 'all'}
            onValue={(scope) => form.set({ scope })}
            options={stopScopes}
          />
        )}
      </FieldFrame>
      <Text
        {...common}
        name="extraStopWords"
        label="Further words that stop"
        placeholder="BASTA, NO MORE"
        hint="Beside STOP, UNSUBSCRIBE, CANCEL, END, QUIT and others. Separated by commas."
      />
      <Text
        {...common}
        name="stopReply"
        label="Answer to STOP"
        maxLength={320}
        placeholder="You are unsubscribed and will get no more messages. Reply START to subscribe again."
      />
      <Text
        {...common}
        name="startReply"
        label="Answer to START"
        maxLength={320}
        placeholder="You are subscribed again. Reply STOP to unsubscribe."
      />
      <Text
        {...common}
        name="helpReply"
        label="Answer to HELP"
        maxLength={320}
        placeholder="Reply STOP to unsubscribe, START to subscribe again."
      />
      <FormError form={form} />
      {canChange && (
        <SubmitButton form={form} disabled={!form.isDirty}>
          Save words
        </SubmitButton>
      )}
    </Form>
  )
}

function BrakesForm({ stored: { brakes, softBounces }, canChange }: PartProps) {
  const numbers = (of: Record<string, number | boolean>) =>
    Object.fromEntries(Object.entries(of).map(([name, value]) => [name, String(value)]))
  const form = useConsentForm<Record<string, string>>(
    { ...numbers(brakes), ...numbers(softBounces) },
    (values) => ({
      brakes: {
        enabled: values.enabled === 'true',
        bouncePercent: Number(values.bouncePercent),
        complaintPercent: Number(values.complaintPercent),
        minimum: Number(values.minimum),
        hours: Number(values.hours),
      },
      softBounces: {
        count: Number(values.count),
        days: Number(values.days),
        suppressDays: Number(values.suppressDays),
      },
    }),
    'Brakes saved',
  )
  const { values } = form
  const number = (
    part: string,
    name: string,
    label: string,
    limits: Record<'min' | 'max' | 'step', number | string>,
  ) => (
    <FieldFrame label={label} errors={errorsOf(form, part, name)}>
      {(control) => (
        <Input
          {...control}
          {...limits}
          type="number"
          className="w-32"
          disabled={!canChange || (part === 'brakes' && values.enabled !== 'true')}
          value={values[name] ?? ''}
          onValue={(text) => form.set({ [name]: text })}
        />
      )}
    </FieldFrame>
  )
  return (
    <Form form={form} className="max-w-140">
      <Heading>Brakes and bounces</Heading>
      <FieldFrame
        label="Brake workflows whose email goes wrong"
        hint="A commercial workflow stops sending email when too much of it bounces or is complained about, until an admin releases it."
        inline
      >
        {(control) => (
          <Switch
            {...control}
            disabled={!canChange}
            value={values.enabled === 'true'}
            onValue={(isOn) => form.set({ enabled: String(isOn) })}
          />
        )}
      </FieldFrame>
      <div className="grid gap-4 sm:grid-cols-2">
        {number('brakes', 'bouncePercent', 'Hard bounces, percent', { min: 0.01, max: 100, step: 'any' })}
        {number('brakes', 'complaintPercent', 'Complaints, percent', { min: 0.01, max: 100, step: 'any' })}
        {number('brakes', 'minimum', 'Of at least, emails', { min: 10, max: 1_000_000, step: 1 })}
        {number('brakes', 'hours', 'Over the last, hours', { min: 1, max: 168, step: 1 })}
      </div>
      <p className="text-sm text-muted">
        One soft bounce says little. So many on different messages, without a delivery between them, hold the address
        back for a while:
      </p>
      <div className="grid gap-4 sm:grid-cols-3">
        {number('softBounces', 'count', 'Soft bounces', { min: 1, max: 100, step: 1 })}
        {number('softBounces', 'days', 'Within days', { min: 1, max: 90, step: 1 })}
        {number('softBounces', 'suppressDays', 'Held back, days', { min: 1, max: 365, step: 1 })}
      </div>
      <FormError form={form} />
      {canChange && (
        <SubmitButton form={form} disabled={!form.isDirty}>
          Save brakes
        </SubmitButton>
      )}
    </Form>
  )
}
