import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { cn } from './class-names.ts'
import { copyText, tellNotCopied } from './copy-text.ts'

export function CopyButton({ text, label = 'Copy', className }: { text: string; label?: string; className?: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const back = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(back)
  }, [isCopied])
  return (
    <Button
      variant="ghost"
      size="icon-sm"
      hint={isCopied ? 'Copied' : label}
      className={className}
      onClick={(event) => {
        event.stopPropagation()
        void copyText(text).then(() => setCopied(true), tellNotCopied)
      }}
    >
      {isCopied ? <Check className="text-good" /> : <Copy />}
    </Button>
  )
}

/** An identifier in mono, with a button to copy it. */
export function Id({ value, className }: { value: string; className?: string }) {
  return (
    <span className={cn('inline-flex max-w-full items-center gap-0.5', className)}>
      <code className="truncate text-muted">{value}</code>
      <CopyButton text={value} label="Copy" className="relative z-1" />
    </span>
  )
}
