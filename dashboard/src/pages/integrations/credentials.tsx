// The credential fields of a provider, rendered from its description in the API.
import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import type { ProviderField } from '../../api/integrations.ts'
import { Button } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Input, Textarea } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Checkbox } from '../../ui/form/switch.tsx'

export type Credentials = Record<string, unknown>

interface CredentialFieldsProps {
  fields: readonly ProviderField[]
  value: Credentials
  onValue: (value: Credentials) => void
  /** The stored credentials. Secrets are never shown, only that they are set. */
  stored?: Credentials
  disabled?: boolean
}

export function CredentialFields({ fields, value, onValue, stored = {}, disabled = false }: CredentialFieldsProps) {
  if (fields.length === 0)
    return <p className="text-sm text-muted">No credentials needed: messages go to the sandbox of this environment.</p>
  return (
    <div className="space-y-4">
      {fields.map((field) => (
        <CredentialField
          key={field.name}
          field={field}
          value={value[field.name]}
          onValue={(one) => onValue({ ...value, [field.name]: one })}
          stored={stored[field.name]}
          disabled={disabled}
        />
      ))}
    </div>
  )
}

interface CredentialFieldProps {
  field: ProviderField
  value: unknown
  onValue: (value: unknown) => void
  stored: unknown
  disabled: boolean
}

function CredentialField({ field, value, onValue, stored, disabled }: CredentialFieldProps) {
  const { name, label, type, required, secret, help, choices } = field
  const text = type === 'object' && typeof value === 'object' ? JSON.stringify(value, undefined, 2) : textOf(value)
  return (
    <FieldFrame label={label} hint={help} inline={type === 'flag'} optional={!required && type !== 'flag'}>
      {(control) => {
        if (type === 'flag')
          return <Checkbox {...control} value={value === true} onValue={onValue} disabled={disabled} />
        if (choices)
          return (
            <Select
              {...control}
              value={text === '' ? undefined : text}
              onValue={onValue}
              options={choices.map((choice) => ({ value: choice, label: choice }))}
              disabled={disabled}
            />
          )
        if (secret)
          return (
            <SecretInput
              {...control}
              label={label}
              value={text}
              onValue={onValue}
              isStored={!isEmpty(stored)}
              isLong={type === 'object' || mayBeLong(field)}
              disabled={disabled}
              onKeep={() => onValue(stored)}
              isKept={value === stored}
            />
          )
        if (type === 'object')
          return (
            <Textarea {...control} value={text} onValue={onValue} disabled={disabled} className="font-mono text-code" />
          )
        return (
          <Input
            {...control}
            name={name}
            value={text}
            onValue={onValue}
            disabled={disabled}
            autoComplete="off"
            spellCheck={false}
          />
        )
      }}
    </FieldFrame>
  )
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : value === undefined ? '' : String(value))
const isEmpty = (value: unknown) => value === undefined || value === null || value === ''
const mayBeLong = ({ name, label }: ProviderField) =>
  /private key|service account|certificate/i.test(`${name} ${label}`)

interface SecretInputProps {
  id?: string
  label: string
  value: string
  onValue: (value: string) => void
  isStored?: boolean
  /** For a key file or JSON, whose line breaks matter. */
  isLong?: boolean
  /** Keeps the stored secret. */
  isKept?: boolean
  onKeep?: () => void
  disabled?: boolean
  'aria-describedby'?: string | undefined
  'aria-invalid'?: boolean | undefined
}

/** A hidden field for a secret. A stored secret is not shown, but can be replaced. */
export function SecretInput(props: SecretInputProps) {
  const {
    label,
    value,
    onValue,
    isStored = false,
    isLong = false,
    isKept = false,
    onKeep,
    disabled,
    ...control
  } = props
  const [isShown, setShown] = useState(false)
  if (isStored && isKept)
    return (
      <div className="flex gap-2">
        <Input {...control} value="••••••••••••" readOnly disabled className="font-mono" />
        {!disabled && (
          <Button onClick={() => onValue('')}>
            Replace<span className="sr-only"> {label}</span>
          </Button>
        )}
      </div>
    )
  const field = {
    ...control,
    value,
    onValue,
    disabled,
    autoComplete: 'off',
    spellCheck: false,
    className: cn('pr-9 font-mono text-code', !isShown && '[-webkit-text-security:disc]'),
  }
  return (
    <div className="flex items-start gap-2">
      <div className="relative min-w-0 flex-1">
        {isLong || value.includes('\n') ? (
          <Textarea {...field} rows={2} />
        ) : (
          <Input
            {...field}
            onPaste={(event) => {
              // A single-line field would join the lines of a key and corrupt it.
              const pasted = event.clipboardData.getData('text').trim()
              if (!pasted.includes('\n')) return
              event.preventDefault()
              onValue(pasted)
            }}
          />
        )}
        <Button
          variant="ghost"
          size="icon-sm"
          aria-label={isShown ? `Hide ${label}` : `Show ${label}`}
          className="absolute top-1 right-1"
          onClick={() => setShown(!isShown)}
        >
          {isShown ? <EyeOff /> : <Eye />}
        </Button>
      </div>
      {isStored && onKeep && <Button onClick={onKeep}>Keep the stored secret</Button>}
    </div>
  )
}
