// The body of an email or layout: blocks, or HTML with Liquid. Each editor loads on first use.
import { Blocks, CodeXml } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { cn } from '../base/class-names.ts'
import { Skeleton } from '../base/states.tsx'
import type { Variable } from '../code/liquid.ts'
import { LiquidEditor } from '../code/liquid-editor.tsx'
import { useTouched } from '../form/form.tsx'
import { Segments } from '../frame/tabs.tsx'
import { isDocument, isEmptyBody } from './block-document.ts'

const BlockEditor = lazy(() => import('./block-editor.tsx').then((module) => ({ default: module.BlockEditor })))

export type EmailEditorType = 'block' | 'html'

interface EmailEditorProps {
  label?: string
  type: EmailEditorType
  onType: (type: EmailEditorType) => void
  /** HTML, or the block document as JSON. */
  value: string
  onValue: (value: string) => void
  variables: readonly Variable[]
  /** Including fields of list items, for blocks inside a repeat. */
  variablesInLists: readonly Variable[]
  issues: ReadonlyArray<{ message: string; variableName?: string | undefined }>
  /** What a new Repeat block goes through. */
  repeatOver?: string | undefined
  readOnly: boolean
}

export function EmailEditor(props: EmailEditorProps) {
  const {
    label = 'Body',
    type,
    onType,
    value,
    onValue,
    variables,
    variablesInLists,
    issues,
    repeatOver,
    readOnly,
  } = props
  const messages = [...new Set(issues.map(({ message }) => message))]
  const { isTouched, onBlur } = useTouched(isEmptyBody(value))
  const isWrong = issues.length > 0 && isTouched
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only learns that a control inside was left
    <div onBlur={onBlur}>
      <div className="mb-1.5 flex items-center justify-between gap-2">
        <span className="text-sm font-medium">{label}</span>
        {!readOnly && (
          <Segments
            label="Editor"
            value={type}
            onValue={(next) => next !== type && onType(next)}
            options={[
              {
                value: 'block',
                label: (
                  <>
                    <Blocks aria-hidden />
                    Blocks
                  </>
                ),
              },
              {
                value: 'html',
                label: (
                  <>
                    <CodeXml aria-hidden />
                    HTML
                  </>
                ),
              },
            ]}
          />
        )}
      </div>
      {type === 'block' ? (
        <Suspense fallback={<Skeleton className="h-80 w-full rounded-control" />}>
          <BlockEditor
            label={label}
            value={value}
            onValue={onValue}
            variables={variablesInLists}
            issues={issues}
            isWrong={isWrong}
            repeatOver={repeatOver}
            readOnly={readOnly}
          />
        </Suspense>
      ) : isDocument(value) ? (
        <p role="status" className="rounded-control border border-dashed px-3 py-6 text-center text-sm text-muted">
          Saving converts the blocks to HTML…
        </p>
      ) : (
        <LiquidEditor
          aria-label={label}
          aria-invalid={isWrong || undefined}
          language="html"
          hasLineNumbers
          className="max-h-[60vh] min-h-80"
          placeholder="<h1>Hello {{subscriber.firstName}}</h1>"
          value={value}
          onValue={onValue}
          variables={variables}
          issues={issues}
          readOnly={readOnly}
        />
      )}
      {messages.length > 0 && (
        <p className={cn('mt-1.5 text-xs', isWrong ? 'text-bad' : 'text-muted')}>{messages.join(' ')}</p>
      )}
    </div>
  )
}
