// A message as others see it: in a dark mail client or product, or with eyes that tell fewer colours apart.
import type { ReactNode } from 'react'

export type Sight = 'usual' | 'dark' | 'protanopia' | 'deuteranopia' | 'tritanopia' | 'achromatopsia'

export const sights: ReadonlyArray<{ value: Sight; label: string }> = [
  { value: 'usual', label: 'As usual' },
  { value: 'dark', label: 'In dark mode' },
  { value: 'protanopia', label: 'Without red' },
  { value: 'deuteranopia', label: 'Without green' },
  { value: 'tritanopia', label: 'Without blue' },
  { value: 'achromatopsia', label: 'Without colour' },
]

/**
 * What is left of red, green and blue, in linear light: Viénot, Brettel and Mollon (1999) for the first two, Brettel's
 * approximation for the third, and luminance alone for the last.
 */
const matrices: Partial<Record<Sight, string>> = {
  protanopia: '0.112 0.888 0 0 0 0.112 0.888 0 0 0 0.004 -0.004 1 0 0 0 0 0 1 0',
  deuteranopia: '0.293 0.707 0 0 0 0.293 0.707 0 0 0 -0.022 0.022 1 0 0 0 0 0 1 0',
  tritanopia: '1 0.152 -0.152 0 0 0 0.867 0.133 0 0 0 0.867 0.133 0 0 0 0 0 1 0',
  achromatopsia: '0.2126 0.7152 0.0722 0 0 0.2126 0.7152 0.0722 0 0 0.2126 0.7152 0.0722 0 0 0 0 0 1 0',
}

export function Seen({ sight, children }: { sight: Sight; children: ReactNode }) {
  const matrix = matrices[sight]
  const filter = matrix ? `url(#sight-${sight})` : undefined
  return (
    <div
      data-sight={sight}
      style={{ filter, ...(sight === 'dark' ? { colorScheme: 'dark' } : {}) }}
      className="text-ink"
    >
      {matrix && (
        <svg aria-hidden="true" className="absolute size-0">
          <filter id={`sight-${sight}`} colorInterpolationFilters="linearRGB">
            <feColorMatrix type="matrix" values={matrix} />
          </filter>
        </svg>
      )}
      {children}
    </div>
  )
}
