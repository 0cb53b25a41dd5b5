// A QR code, drawn here: what it holds leaves the page for nobody.
import { useMemo } from 'react'
import { encode } from 'uqr'

export function QrCode({ text, label, className }: { text: string; label: string; className?: string }) {
  const { size, path } = useMemo(() => {
    const code = encode(text, { border: 2 })
    const squares = code.data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    return { size: code.size, path: squares.join('') }
  }, [text])
  return (
    // Dark on white in both themes: cameras read nothing else well.
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      className={className}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
