import { lazy, Suspense } from 'react'
import { cn } from '../base/class-names.ts'
import { Skeleton } from '../base/states.tsx'
import type { CodeMirrorProps } from './code-mirror.tsx'

// The editor is as large as the rest of the shell, so only pages that need it load it.
const CodeMirror = lazy(() => import('./code-mirror.tsx').then((module) => ({ default: module.CodeMirror })))

/** An editor for Liquid, JSON, HTML with Liquid, or plain text. */
export function CodeEditor(props: CodeMirrorProps) {
  const waiting = <Skeleton className={cn('w-full rounded-control', props.singleLine ? 'h-8' : 'h-32')} />
  return (
    <Suspense fallback={waiting}>
      <CodeMirror {...props} />
    </Suspense>
  )
}
