import { type ReactNode, useState } from 'react'
import { cn } from '../base/class-names.ts'
import { CopyButton } from '../base/copy.tsx'
import { type ApiRequest, type Language, languages, snippet } from './snippets.ts'

interface CodeBlockProps {
  code: string
  title?: ReactNode
  /** In pixels; longer code scrolls. */
  maxHeight?: number
  className?: string
}

export function CodeBlock({ code, title, maxHeight, className }: CodeBlockProps) {
  return (
    <div className={cn('group/code relative overflow-hidden rounded-surface border bg-sunken text-left', className)}>
      {title && (
        <div className="flex h-9 items-center justify-between gap-2 border-b pr-1.5 pl-3 text-xs text-muted">
          {title}
          <CopyButton text={code} />
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <pre className="overflow-auto p-3 text-code text-ink" style={{ maxHeight }} tabIndex={0}>
        {code}
      </pre>
      {!title && (
        <CopyButton
          text={code}
          className="absolute top-1.5 right-1.5 bg-sunken opacity-0 group-focus-within/code:opacity-100 group-hover/code:opacity-100 pointer-coarse:opacity-100"
        />
      )}
    </div>
  )
}

interface RequestCodeProps {
  request: ApiRequest
  apiKey?: string
  maxHeight?: number
  className?: string
}

const storageKey = 'belfry-language'

/** A request in the chosen language, with the API key filled in if known. Remembers the language. */
export function RequestCode({ request, apiKey = 'YOUR_API_KEY', maxHeight = 360, className }: RequestCodeProps) {
  const [language, setLanguage] = useState<Language>(() => {
    const before = localStorage.getItem(storageKey)
    return languages.find(({ value }) => value === before)?.value ?? 'curl'
  })
  const code = snippet(language, request, { origin: window.location.origin, apiKey })
  return (
    <ChosenCode
      label="Language"
      options={languages}
      value={language}
      onValue={(value) => {
        setLanguage(value)
        localStorage.setItem(storageKey, value)
      }}
      code={code}
      maxHeight={maxHeight}
      {...(className === undefined ? {} : { className })}
    />
  )
}

interface ChosenCodeProps<Value extends string> {
  /** What is chosen: "Language". */
  label: string
  options: ReadonlyArray<{ value: Value; label: string }>
  value: Value
  onValue: (value: Value) => void
  code: string
  maxHeight?: number
  className?: string
}

/** Code in one of several languages or frameworks, with a button to copy it. */
export function ChosenCode<Value extends string>(props: ChosenCodeProps<Value>) {
  const { label, options, value: chosen, onValue, code, maxHeight = 360, className } = props
  return (
    <div className={cn('overflow-hidden rounded-surface border bg-sunken text-left', className)}>
      <div className="flex h-9 items-center justify-between gap-2 border-b pr-1.5 pl-1.5">
        <fieldset aria-label={label} className="flex min-w-0 gap-0.5 overflow-x-auto [scrollbar-width:none]">
          {options.map(({ value, label: name }) => (
            <button
              key={value}
              type="button"
              aria-pressed={value === chosen}
              onClick={() => onValue(value)}
              className="h-6 rounded-sm px-2 text-xs whitespace-nowrap text-muted hover:text-ink aria-pressed:bg-page aria-pressed:font-medium aria-pressed:text-ink aria-pressed:shadow-[0_0_0_1px_var(--line)]"
            >
              {name}
            </button>
          ))}
        </fieldset>
        <CopyButton text={code} label="Copy the code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <pre className="overflow-auto p-3 text-code" style={{ maxHeight }} tabIndex={0}>
        {code}
      </pre>
    </div>
  )
}
