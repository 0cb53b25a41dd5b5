// Forms: values, dirty state, and the server's errors at their fields.
import { useBlocker } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useCallback, useId, useState } from 'react'
import { useAction } from '../../api/cache.ts'
import { ApiError } from '../../api/client.ts'
import { Button, type ButtonProps } from '../base/button.tsx'
import { cn } from '../base/class-names.ts'
import { DialogFooter, useConfirm } from '../frame/dialog.tsx'
import { inSentences, plainErrors } from './plain-words.ts'

interface FormOptions<Values, Output> {
  initial: Values
  submit: (values: Values) => Promise<Output>
  /** As in useAction. */
  refresh?: readonly string[]
  done?: string | ((output: Output) => string)
  onDone?: (output: Output) => void
}

export interface FormState<Values> {
  values: Values
  set: (patch: Partial<Values>) => void
  /** Resets to the initial or given values. */
  reset: (values?: Values) => void
  isDirty: boolean
  isPending: boolean
  /** Errors by field; nested names are joined by dots, as the server does. */
  errors: Record<string, string[]>
  /** Errors of no particular field. */
  error: string | undefined
  submit: () => void
}

/**
 *     const form = useForm({ initial: { key: '', name: '' }, submit: (body) => api('POST /v2/topics', { body }), … })
 *     <Form form={form}>
 *       <Field form={form} name="key" label="Key">{(control) => <Input {...control} />}</Field>
 *       <FormError form={form} />
 *       <SubmitButton form={form}>Create topic</SubmitButton>
 *     </Form>
 */
export function useForm<Values extends object, Output>(options: FormOptions<Values, Output>): FormState<Values> {
  const [initial, setInitial] = useState(options.initial)
  const [values, setValues] = useState(options.initial)
  const action = useAction<Values, Output>({
    do: options.submit,
    ...(options.refresh ? { refresh: options.refresh } : {}),
    ...(options.done ? { done: options.done } : {}),
    quiet: true,
    onDone: (output, sent) => {
      setInitial(sent)
      options.onDone?.(output)
    },
  })
  const { error } = action
  const { ofFields, general } = byField(error instanceof ApiError ? error.errors : {}, Object.keys(values))
  const hasFields = Object.keys(ofFields).length > 0
  return {
    values,
    set: useCallback((patch) => setValues((before) => ({ ...before, ...patch })), []),
    reset: (to = initial) => {
      setInitial(to)
      setValues(to)
      action.reset()
    },
    isDirty: JSON.stringify(values) !== JSON.stringify(initial),
    isPending: action.isPending,
    errors: ofFields,
    error: general.length > 0 ? general.join(' ') : error && !hasFields ? error.message : undefined,
    submit: () => action.mutate(values),
  }
}

/** Some answers list all their errors as general ones. Those that begin with the name of a field belong there. */
function byField({ general = [], ...named }: Record<string, string[]>, fields: string[]) {
  const ofFields = { ...named }
  const rest = general.filter((message) => {
    const field = fields.find((each) => message.startsWith(`${each} `) || message.startsWith(`${each}.`))
    if (field !== undefined) ofFields[field] = [...(ofFields[field] ?? []), message]
    return field === undefined
  })
  return { ofFields, general: rest }
}

interface FormProps<Values> {
  form: FormState<Values>
  className?: string
  children: ReactNode
}

export function Form<Values>({ form, className, children }: FormProps<Values>) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    event.stopPropagation()
    form.submit()
  }
  return (
    <form noValidate onSubmit={submit} className={cn('space-y-4', className)}>
      {children}
    </form>
  )
}

interface Control<Value> {
  id: string
  name: string
  value: Value
  onValue: (value: Value) => void
  'aria-invalid': boolean | undefined
  'aria-describedby': string | undefined
}

interface FieldProps<Values, Name extends keyof Values & string> {
  form: FormState<Values>
  name: Name
  label: ReactNode
  hint?: ReactNode
  optional?: boolean
  /** Puts the label beside the control, for switches and checkboxes. */
  inline?: boolean
  className?: string
  children: (control: Control<Values[Name]>) => ReactNode
}

export function Field<Values, Name extends keyof Values & string>(props: FieldProps<Values, Name>) {
  const { form, name, label, hint, optional, inline, className, children } = props
  const nested = Object.entries(form.errors).filter(([field]) => field === name || field.startsWith(`${name}.`))
  return (
    <FieldFrame
      label={label}
      hint={hint}
      optional={optional ?? false}
      inline={inline ?? false}
      errors={plainErrors(
        nested.flatMap(([, messages]) => messages),
        name,
        typeof label === 'string' ? label : 'It',
      )}
      {...(className ? { className } : {})}
    >
      {(control) =>
        children({
          ...control,
          name,
          value: form.values[name],
          onValue: (value) => form.set({ [name]: value } as unknown as Partial<Values>),
        })
      }
    </FieldFrame>
  )
}

interface FieldFrameProps {
  label: ReactNode
  hint?: ReactNode
  optional?: boolean
  inline?: boolean
  errors?: readonly string[]
  /** Whether nothing is filled in. Its errors are not shown in red until the user has been there. */
  isEmpty?: boolean
  className?: string
  children: (control: Pick<Control<unknown>, 'id' | 'aria-invalid' | 'aria-describedby'>) => ReactNode
}

/** Whether the user has filled in a field, or left it: before that, an empty field is not wrong yet. */
export function useTouched(isEmpty: boolean): { isTouched: boolean; onBlur: () => void } {
  const [isTouched, setTouched] = useState(!isEmpty)
  if (!isEmpty && !isTouched) setTouched(true)
  return { isTouched, onBlur: useCallback(() => setTouched(true), []) }
}

/** Label, control, hint and errors, for controls outside a useForm. */
export function FieldFrame(props: FieldFrameProps) {
  const { label, hint, optional, inline, errors = [], isEmpty = false, className, children } = props
  const id = useId()
  const { isTouched, onBlur } = useTouched(isEmpty)
  const isWrong = errors.length > 0 && isTouched
  const note = errors.length > 0 ? inSentences(errors) : hint
  const control = children({
    id,
    'aria-invalid': isWrong || undefined,
    'aria-describedby': note ? `${id}-note` : undefined,
  })
  const name = (
    <label htmlFor={id} className="text-sm font-medium">
      {label}
      {optional && <span className="ml-1.5 text-xs font-normal text-muted">optional</span>}
    </label>
  )
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only learns that a control inside was left
    <div className={className} onBlur={onBlur}>
      {inline ? (
        <div className="flex items-center gap-2.5">
          {control}
          {name}
        </div>
      ) : (
        <>
          <div className="mb-1.5">{name}</div>
          {control}
        </>
      )}
      {note && (
        <p id={`${id}-note`} className={cn('mt-1.5 text-xs', isWrong ? 'text-bad' : 'text-muted')}>
          {note}
        </p>
      )}
    </div>
  )
}

/** Errors of no particular field. */
export function FormError({ form }: { form: { error: string | undefined } }) {
  if (!form.error) return null
  return (
    <p role="alert" className="rounded-control border border-bad/30 bg-bad/8 px-3 py-2 text-sm text-bad">
      {form.error}
    </p>
  )
}

type SubmitButtonProps = Omit<ButtonProps, 'form'> & { form: { isPending: boolean } }

export function SubmitButton({ form, children, ...rest }: SubmitButtonProps) {
  return (
    <Button type="submit" variant="primary" {...rest} pending={form.isPending}>
      {children}
    </Button>
  )
}

interface FormFooterProps {
  form: { isPending: boolean; error: string | undefined }
  onClose: () => void
  disabled?: boolean
  /** What the button says that sends the form. */
  children: ReactNode
}

/** The end of a form in a dialog. */
export const FormFooter = ({ form, onClose, disabled = false, children }: FormFooterProps) => (
  <>
    <FormError form={form} />
    <DialogFooter>
      <Button onClick={onClose}>Cancel</Button>
      <SubmitButton form={form} disabled={disabled}>
        {children}
      </SubmitButton>
    </DialogFooter>
  </>
)

/** Asks before the user leaves the page or closes the window with unsaved changes. */
export function useUnsavedGuard(isDirty: boolean): void {
  const ask = useConfirm()
  useBlocker({
    disabled: !isDirty,
    enableBeforeUnload: () => isDirty,
    shouldBlockFn: async () =>
      !(await ask({
        title: 'Leave without saving?',
        body: 'Your unsaved changes will be lost.',
        confirm: 'Leave',
      })),
  })
}
