// Switches an email preview between desktop and phone width.
import { Monitor, Smartphone } from 'lucide-react'
import { Segments } from '../frame/tabs.tsx'

export type EmailWidth = 'desktop' | 'phone'

export const WidthSwitch = ({ value, onValue }: { value: EmailWidth; onValue: (width: EmailWidth) => void }) => (
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
    ]}
  />
)
