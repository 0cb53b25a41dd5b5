import { Check, Minus } from 'lucide-react'
import { Checkbox as RadixCheckbox, Switch as RadixSwitch } from 'radix-ui'
import { cn } from '../base/class-names.ts'

interface SwitchProps {
  id?: string
  value: boolean
  onValue: (value: boolean) => void
  disabled?: boolean
  'aria-label'?: string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: boolean | undefined
}

/** For settings that take effect at once. In a form with a save button, use a checkbox. */
export function Switch({ value, onValue, ...rest }: SwitchProps) {
  return (
    <RadixSwitch.Root
      {...rest}
      checked={value}
      onCheckedChange={onValue}
      className="relative h-5 w-9 shrink-0 rounded-full bg-line-strong transition-colors duration-120 before:absolute before:-inset-1 disabled:opacity-50 data-[state=checked]:bg-accent"
    >
      <RadixSwitch.Thumb className="block size-4 translate-x-0.5 rounded-full bg-[#fff] shadow-float transition-transform duration-120 data-[state=checked]:translate-x-4.5" />
    </RadixSwitch.Root>
  )
}

export function Checkbox({
  value,
  onValue,
  ...rest
}: Omit<SwitchProps, 'value'> & { value: boolean | 'indeterminate' }) {
  return (
    <RadixCheckbox.Root
      {...rest}
      checked={value}
      onCheckedChange={(checked) => onValue(checked === true)}
      className={cn(
        'relative grid size-4 shrink-0 place-items-center rounded-sm border border-line-strong bg-page transition-colors duration-120 before:absolute before:-inset-1 hover:border-faint disabled:opacity-50',
        'data-[state=checked]:border-accent data-[state=checked]:bg-accent data-[state=indeterminate]:border-accent data-[state=indeterminate]:bg-accent',
      )}
    >
      <RadixCheckbox.Indicator className="text-on-accent">
        {value === 'indeterminate' ? (
          <Minus className="size-3" strokeWidth={3} />
        ) : (
          <Check className="size-3" strokeWidth={3} />
        )}
      </RadixCheckbox.Indicator>
    </RadixCheckbox.Root>
  )
}
