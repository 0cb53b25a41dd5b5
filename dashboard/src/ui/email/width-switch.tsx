// Switches an email preview between the widths of a desktop, a phone and a small phone.
import { Monitor, Smartphone } from 'lucide-react'
import { Segments } from '../frame/tabs.tsx'

export type EmailWidth = 'desktop' | 'phone' | 'small'

interface WidthSwitchProps {
  value: EmailWidth
  onValue: (width: EmailWidth) => void
  /** Whether a small phone is offered too. */
  hasSmall?: boolean
}

export const WidthSwitch = ({ value, onValue, hasSmall = false }: WidthSwitchProps) => (
  <Segments
    label="Width"
    value={value}
    onValue={onValue}
    options={[
      {
        value: 'desktop',
        label: (
          <>
            <Monitor aria-hidden />
            Desktop
          </>
        ),
      },
      {
        value: 'phone',
        label: (
          <>
            <Smartphone aria-hidden />
            Phone
          </>
        ),
      },
      ...(hasSmall ? [{ value: 'small' as const, label: '320 px' }] : []),
    ]}
  />
)
