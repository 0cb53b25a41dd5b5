// The HTTP request step: address, headers, body, and how to handle the response.
import { Plus, X } from 'lucide-react'
import { Button } from '../../../ui/base/button.tsx'
import { Segments } from '../../../ui/frame/tabs.tsx'
import type { SchemaField } from '../draft/schema-fields.ts'
import { issuesAt, objectOf, textOf, useStep } from '../draft/step-context.ts'
import { ChoiceControl, FieldSwitch, JsonControl, NumberControl, TextControl } from './basic.tsx'

interface OfField {
  field: SchemaField
}

interface Pair {
  key: string
  value: string
}

export function AddressControl() {
  const { values, set } = useStep()
  return (
    <div className="grid grid-cols-[112px_1fr] gap-2">
      <ChoiceControl
        path="method"
        label="Method"
        value={values.method}
        onValue={(method) => set({ method })}
        options={['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].map((value) => ({ value, label: value }))}
      />
      <TextControl
        path="url"
        label="Address"
        placeholder="https://api.example.com/users/{{subscriber.subscriberId}}"
        value={values.url}
        onValue={(url) => set({ url })}
      />
    </div>
  )
}

function Pairs({
  path,
  label,
  noun,
  value,
  onValue,
}: {
  path: string
  label: string
  noun: string
  value: Pair[]
  onValue: (value: Pair[]) => void
}) {
  const { readOnly, issues } = useStep()
  const change = (index: number, patch: Partial<Pair>) =>
    onValue(value.map((pair, place) => (place === index ? { ...pair, ...patch } : pair)))
  const general = issuesAt(issues, path).filter((issue) => issue.path === path)
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1.5 text-sm font-medium">{label}</legend>
      {value.map((pair, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two rows may be equal while the user types
        <div key={index} className="grid grid-cols-[2fr_3fr_auto] items-end gap-2">
          <TextControl
            path={`${path}.${index}.key`}
            label={index === 0 ? 'Name' : `Name ${index + 1}`}
            value={pair.key}
            onValue={(key) => change(index, { key })}
          />
          <TextControl
            path={`${path}.${index}.value`}
            label={index === 0 ? 'Value' : `Value ${index + 1}`}
            value={pair.value}
            onValue={(next) => change(index, { value: next })}
          />
          {!readOnly && (
            <Button
              variant="ghost"
              size="icon"
              hint={`Remove this ${noun}`}
              onClick={() => onValue(value.filter((_, place) => place !== index))}
            >
              <X />
            </Button>
          )}
        </div>
      ))}
      {general.map(({ message }) => (
        <p key={message} className="text-xs text-bad">
          {message}
        </p>
      ))}
      {!readOnly && (
        <Button size="sm" icon={<Plus />} onClick={() => onValue([...value, { key: '', value: '' }])}>
          Add a {noun}
        </Button>
      )}
    </fieldset>
  )
}

const pairsIn = (value: unknown): Pair[] =>
  Array.isArray(value) ? value.map(objectOf).map(({ key, value }) => ({ key: textOf(key), value: textOf(value) })) : []

export function HeadersControl({ field }: OfField) {
  const { values, set } = useStep()
  return (
    <Pairs
      path={field.name}
      label="Headers"
      noun="header"
      value={pairsIn(values[field.name])}
      onValue={(pairs) => set({ [field.name]: pairs.length > 0 ? pairs : undefined })}
    />
  )
}

export function RequestBodyControl({ field }: OfField) {
  const { values, set, readOnly } = useStep()
  const value = values[field.name]
  const isPairs = Array.isArray(value)
  if (['GET', 'HEAD'].includes(textOf(values.method)) && value === undefined) return null
  return (
    <div className="space-y-2">
      {!readOnly && (
        <Segments
          label="Body as"
          value={isPairs ? 'pairs' : 'text'}
          onValue={(as) => set({ [field.name]: as === 'pairs' ? [{ key: '', value: '' }] : undefined })}
          options={[
            { value: 'text', label: 'Text or JSON' },
            { value: 'pairs', label: 'Names and values' },
          ]}
        />
      )}
      {isPairs ? (
        <Pairs
          path={field.name}
          label="Body"
          noun="value"
          value={pairsIn(value)}
          onValue={(pairs) => set({ [field.name]: pairs })}
        />
      ) : (
        <TextControl
          path={field.name}
          label="Body"
          isLong
          optional
          placeholder={'{ "user": "{{subscriber.subscriberId}}" }'}
          value={value}
          onValue={(text) => set({ [field.name]: text || undefined })}
        />
      )}
    </div>
  )
}

export function AnswerSchemaControl({ field }: OfField) {
  const { values, set } = useStep()
  return (
    <JsonControl
      path={field.name}
      label="Response schema"
      optional
      hint="A JSON Schema. Later steps can then use its fields, under steps and the id of this step."
      placeholder={'{ "type": "object", "properties": { "plan": { "type": "string" } } }'}
      value={values[field.name]}
      onValue={(schema) => set({ [field.name]: schema })}
    />
  )
}

export const EnforceControl = ({ field }: OfField) => (
  <FieldSwitch
    field={field}
    label="Refuse other responses"
    hint="A response that does not match the schema is a failure."
  />
)

export const RetryControl = ({ field }: OfField) => (
  <FieldSwitch
    field={field}
    label="Try again when it fails"
    hint="Up to three times, with the same Idempotency-Key: after no answer, 408, 425, 429 or 5xx."
  />
)

export const ContinueControl = ({ field }: OfField) => (
  <FieldSwitch field={field} label="Continue when it fails" hint="Otherwise the run ends here." />
)

export function TimeoutControl({ field }: OfField) {
  const { values, set } = useStep()
  return (
    <NumberControl
      path={field.name}
      label="Timeout (ms)"
      optional
      placeholder={field.placeholder}
      value={values[field.name]}
      onValue={(timeout) => set({ [field.name]: timeout })}
    />
  )
}
