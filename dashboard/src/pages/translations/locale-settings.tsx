import { useCanInOrganization } from '../../api/auth.ts'
import { type LocaleSettings as Settings, translations } from '../../api/translations.ts'
import { Button } from '../../ui/base/button.tsx'
import { localeOptions, localeProblem } from '../../ui/base/locales.ts'
import { Combobox, MultiCombobox } from '../../ui/form/combobox.tsx'
import { Field, Form, FormError, SubmitButton, useForm } from '../../ui/form/form.tsx'
import { Dialog, DialogFooter } from '../../ui/frame/dialog.tsx'

interface LocaleSettingsProps {
  open: boolean
  settings: Settings
  onClose: () => void
}

export const LocaleSettings = ({ open, settings, onClose }: LocaleSettingsProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Locales"
    description="They apply to all environments of the organization."
  >
    {open && <LocalesForm settings={settings} onClose={onClose} />}
  </Dialog>
)

function LocalesForm({ settings, onClose }: Omit<LocaleSettingsProps, 'open'>) {
  const canEdit = useCanInOrganization('admin')
  const { defaultLocale, targetLocales } = settings
  const form = useForm({
    initial: { defaultLocale, targetLocales },
    submit: async (values) => {
      const problem = [values.defaultLocale, ...values.targetLocales]
        .map(localeProblem)
        .find((one) => one !== undefined)
      if (problem !== undefined) throw new Error(problem)
      return translations.changeLocales(values)
    },
    refresh: ['translations'],
    done: 'Locales saved',
    onDone: onClose,
  })
  const options = localeOptions(defaultLocale, ...targetLocales)
  return (
    <Form form={form}>
      <Field
        form={form}
        name="defaultLocale"
        label="Default"
        hint="Used for subscribers without a locale, and where a text is missing."
      >
        {({ name: _, ...control }) => <Combobox {...control} disabled={!canEdit} options={options} allowNew />}
      </Field>
      <Field form={form} name="targetLocales" label="Translated into" hint="A language with its region, such as de_CH.">
        {({ name: _, ...control }) => (
          <MultiCombobox {...control} disabled={!canEdit} options={options} allowNew placeholder="None yet" />
        )}
      </Field>
      <FormError form={form} />
      <DialogFooter>
        {canEdit ? (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <SubmitButton form={form} disabled={!form.isDirty}>
              Save locales
            </SubmitButton>
          </>
        ) : (
          <p className="text-xs text-muted">Only admins and owners can change them.</p>
        )}
      </DialogFooter>
    </Form>
  )
}
