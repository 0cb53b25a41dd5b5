// A JSON editor that shows errors while the user types.
import { useMemo } from 'react'
import { CodeEditor } from './code-editor.tsx'

type JsonObject = Record<string, unknown>
type ReadJson = { value: JsonObject; problem?: undefined } | { value?: undefined; problem: string }

/** Parses a JSON object, or returns the error. An empty text is an empty object. */
export function readJsonObject(text: string): ReadJson {
  if (text.trim() === '') return { value: {} }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value: value as JsonObject }
    return { problem: 'This must be an object: {"name": "value"}.' }
  } catch (error) {
    return { problem: `This is not valid JSON: ${(error as Error).message}` }
  }
}

export const jsonText = (value: unknown): string => JSON.stringify(value ?? {}, undefined, 2)

interface JsonEditorProps {
  id?: string
  value: string
  onValue: (value: string) => void
  readOnly?: boolean
  className?: string
  'aria-label': string
  'aria-describedby'?: string | undefined
}

export function JsonEditor({ value, onValue, ...rest }: JsonEditorProps) {
  const problem = useMemo(() => readJsonObject(value).problem, [value])
  return (
    <>
      <CodeEditor {...rest} language="json" value={value} onValue={onValue} aria-invalid={problem !== undefined} />
      {problem && (
        <p role="alert" className="mt-1.5 text-xs text-bad">
          {problem}
        </p>
      )}
    </>
  )
}
