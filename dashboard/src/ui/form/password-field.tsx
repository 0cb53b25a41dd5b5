import { useQuery } from '@tanstack/react-query'
import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { auth } from '../../api/auth.ts'
import { Button } from '../base/button.tsx'
import { Field, type FormState } from './form.tsx'
import { Input } from './input.tsx'

interface PasswordFieldProps<Values, Name extends keyof Values & string> {
  form: FormState<Values>
  name: Name
  label: string
}

/** For a new password: shows the minimum length, and can reveal the password. */
export function PasswordField<Name extends string, Values extends Record<Name, string>>(
  props: PasswordFieldProps<Values, Name & keyof Values & string>,
) {
  const { form, name, label } = props
  const [isShown, setShown] = useState(false)
  const { data } = useQuery(auth.options())
  return (
    <Field form={form} name={name} label={label} hint={data && `At least ${data.password.minLength} characters.`}>
      {({ value, ...control }) => (
        <div className="relative">
          <Input
            {...control}
            value={value as string}
            onValue={(text) => control.onValue(text as Values[Name & keyof Values & string])}
            type={isShown ? 'text' : 'password'}
            autoComplete="new-password"
            className="h-10 pr-10"
          />
          <Button
            variant="ghost"
            size="icon-sm"
            aria-label={isShown ? 'Hide the password' : 'Show the password'}
            className="absolute top-2 right-2"
            onClick={() => setShown(!isShown)}
          >
            {isShown ? <EyeOff /> : <Eye />}
          </Button>
        </div>
      )}
    </Field>
  )
}
