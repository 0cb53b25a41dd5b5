// The basic controls of steps: text with Liquid, choices, switches, JSON, and a fallback for any schema.
import { type ReactNode, useEffect, useState } from 'react'
import { CodeEditor } from '../../../ui/code/code-editor.tsx'
import { LiquidEditor } from '../../../ui/code/liquid-editor.tsx'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { Switch } from '../../../ui/form/switch.tsx'
import { type SchemaField, wordsOf } from '../draft/schema-fields.ts'
import { isBlank, issuesAt, textOf, useStep } from '../draft/step-context.ts'

interface ControlProps {
  /** The dotted path, as in issues. */
  path: string
  label: string
  hint?: ReactNode
  optional?: boolean
}

interface TextControlProps extends ControlProps {
  value: unknown
  onValue: (value: string) => void
  isLong?: boolean
  placeholder?: string
  className?: string
}

/** A text field that accepts Liquid. */
export function TextControl({
  path,
  label,
  hint,
  optional,
  value,
  onValue,
  isLong = false,
  ...rest
}: TextControlProps) {
  const { issues, variables, readOnly } = useStep()
  const own = issuesAt(issues, path)
  return (
    <FieldFrame
      label={label}
      hint={hint}
      optional={optional ?? false}
      errors={own.map(({ message }) => message)}
      isEmpty={isBlank(value)}
    >
      {(control) => (
        <LiquidEditor
          {...control}
          {...rest}
          aria-label={label}
          value={textOf(value)}
          onValue={onValue}
          variables={variables}
          issues={own}
          readOnly={readOnly}
          singleLine={!isLong}
        />
      )}
    </FieldFrame>
  )
}

/** A number, or a template for one if allowed; empty removes the value. */
export function NumberControl(
  props: ControlProps & {
    value: unknown
    onValue: (value: number | undefined) => void
    min?: number
    max?: number
    placeholder?: string
  },
) {
  const { path, label, hint, optional, value, onValue, ...rest } = props
  const { issues, readOnly } = useStep()
  return (
    <FieldFrame
      label={label}
      hint={hint}
      optional={optional ?? false}
      errors={issuesAt(issues, path).map(({ message }) => message)}
      isEmpty={isBlank(value)}
    >
      {(control) => (
        <Input
          {...control}
          {...rest}
          type="number"
          inputMode="numeric"
          disabled={readOnly}
          value={typeof value === 'number' || typeof value === 'string' ? value : ''}
          onValue={(text) => onValue(text === '' ? undefined : Number(text))}
        />
      )}
    </FieldFrame>
  )
}

export function ChoiceControl(
  props: ControlProps & {
    value: unknown
    onValue: (value: string) => void
    options: ReadonlyArray<{ value: string; label: string }>
  },
) {
  const { path, label, hint, optional, value, onValue, options } = props
  const { issues, readOnly } = useStep()
  return (
    <FieldFrame
      label={label}
      hint={hint}
      optional={optional ?? false}
      errors={issuesAt(issues, path).map(({ message }) => message)}
      isEmpty={isBlank(value)}
    >
      {(control) => (
        <Select
          {...control}
          value={typeof value === 'string' ? value : undefined}
          onValue={onValue}
          options={options}
          disabled={readOnly}
          aria-label={label}
        />
      )}
    </FieldFrame>
  )
}

export function SwitchControl(props: ControlProps & { value: unknown; onValue: (value: boolean) => void }) {
  const { path, label, hint, value, onValue } = props
  const { issues, readOnly } = useStep()
  return (
    <FieldFrame label={label} hint={hint} inline errors={issuesAt(issues, path).map(({ message }) => message)}>
      {(control) => <Switch {...control} value={value === true} onValue={onValue} disabled={readOnly} />}
    </FieldFrame>
  )
}

/** A switch for one of the step's values. */
export function FieldSwitch({ field, ...text }: { field: SchemaField; label: string; hint: string }) {
  const { values, set } = useStep()
  return (
    <SwitchControl path={field.name} value={values[field.name]} onValue={(on) => set({ [field.name]: on })} {...text} />
  )
}

interface JsonControlProps extends ControlProps {
  value: unknown
  /** Called with valid JSON; undefined for an empty field. */
  onValue: (value: unknown) => void
  readOnly?: boolean
  placeholder?: string
  errors?: readonly string[]
  className?: string
}

/** JSON as text. Invalid JSON stays in the field with an error, and changes nothing. */
export function JsonField({
  label,
  hint,
  optional,
  value,
  onValue,
  errors = [],
  readOnly = false,
  ...rest
}: Omit<JsonControlProps, 'path'>) {
  const written = value === undefined || value === null ? '' : JSON.stringify(value, undefined, 2)
  const [text, setText] = useState(written)
  const [complaint, setComplaint] = useState('')
  useEffect(() => {
    // Only a change from elsewhere may replace what the user is typing.
    setText((now) => (same(now, written) ? now : written))
    setComplaint('')
  }, [written])
  return (
    <FieldFrame
      label={label}
      hint={hint}
      optional={optional ?? false}
      errors={complaint ? [complaint] : errors}
      isEmpty={text.trim() === ''}
    >
      {(control) => (
        <CodeEditor
          {...control}
          {...rest}
          aria-label={label}
          language="json"
          value={text}
          readOnly={readOnly}
          onValue={(next) => {
            setText(next)
            if (next.trim() === '') {
              setComplaint('')
              onValue(undefined)
              return
            }
            try {
              const read: unknown = JSON.parse(next)
              setComplaint('')
              if (JSON.stringify(read) !== JSON.stringify(value)) onValue(read)
            } catch (error) {
              setComplaint(`This is not valid JSON: ${(error as Error).message}.`)
            }
          }}
        />
      )}
    </FieldFrame>
  )
}

function same(a: string, b: string): boolean {
  if (a === b) return true
  try {
    return JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b))
  } catch {
    return false
  }
}

export function JsonControl({ path, ...rest }: JsonControlProps) {
  const { issues, readOnly } = useStep()
  return <JsonField {...rest} readOnly={readOnly} errors={issuesAt(issues, path).map(({ message }) => message)} />
}

/** For schema fields without their own control: those of code-first steps and of newer servers. */
export function SchemaControl({ field }: { field: SchemaField }) {
  const { values, set } = useStep()
  const { name, schema, placeholder, isRequired } = field
  const common = {
    path: name,
    label: typeof schema.title === 'string' ? schema.title : wordsOf(name),
    hint: typeof schema.description === 'string' ? schema.description : undefined,
    optional: !isRequired,
    value: values[name] ?? schema.default,
  }
  const change = (value: unknown) => set({ [name]: value })
  if (Array.isArray(schema.enum))
    return (
      <ChoiceControl
        {...common}
        onValue={change}
        options={schema.enum.map((one) => ({ value: String(one), label: wordsOf(String(one)) }))}
      />
    )
  if (schema.type === 'boolean') return <SwitchControl {...common} onValue={change} />
  if (schema.type === 'number' || schema.type === 'integer')
    return (
      <NumberControl
        {...common}
        onValue={change}
        placeholder={placeholder}
        {...(typeof schema.minimum === 'number' ? { min: schema.minimum } : {})}
        {...(typeof schema.maximum === 'number' ? { max: schema.maximum } : {})}
      />
    )
  if (schema.type === 'string' || field.component?.startsWith('TEXT'))
    return (
      <TextControl
        {...common}
        onValue={change}
        placeholder={placeholder}
        isLong={schema.format === 'textarea' || Number(schema.maxLength) > 200}
      />
    )
  return <JsonControl {...common} onValue={change} />
}
