// A text editor with Liquid: suggests variables and filters, and underlines problems.
import { useMemo } from 'react'
import { CodeEditor } from './code-editor.tsx'
import { liquidCompletions, problemsIn, type Variable } from './liquid.ts'

interface LiquidEditorProps {
  id?: string
  value: string
  onValue: (value: string) => void
  variables: readonly Variable[]
  issues?: ReadonlyArray<{ message: string; variableName?: string | undefined }>
  language?: 'liquid' | 'html'
  singleLine?: boolean
  hasLineNumbers?: boolean
  placeholder?: string
  readOnly?: boolean
  className?: string
  'aria-label': string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: boolean | undefined
}

const none: never[] = []

export function LiquidEditor({ variables, issues = none, language = 'liquid', ...rest }: LiquidEditorProps) {
  const completions = useMemo(() => liquidCompletions(variables), [variables])
  const { value } = rest
  const problems = useMemo(() => problemsIn(value, issues), [value, issues])
  return <CodeEditor {...rest} language={language} completions={completions} problems={problems} />
}
