// CodeMirror with our theme. Loaded on demand: pages use code-editor.tsx.
import {
  autocompletion,
  type CompletionSource,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { html } from '@codemirror/lang-html'
import { json } from '@codemirror/lang-json'
import { liquid } from '@codemirror/lang-liquid'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { EditorView, keymap, lineNumbers, placeholder as showPlaceholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useLayoutEffect, useRef } from 'react'
import { cn } from '../base/class-names.ts'

export interface CodeMirrorProps {
  id?: string
  value: string
  onValue: (value: string) => void
  language: 'liquid' | 'html' | 'json' | 'text'
  /** Completions at the cursor: variables, filters. */
  completions?: CompletionSource
  /** Problems to underline, by position. */
  problems?: readonly Diagnostic[]
  /** A single line, for subjects and titles. */
  singleLine?: boolean
  hasLineNumbers?: boolean
  placeholder?: string
  readOnly?: boolean
  /** More extensions, such as decorations; keep the same array between renders. */
  extensions?: Extension
  className?: string
  'aria-label'?: string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: boolean | undefined
}

const languages: Record<CodeMirrorProps['language'], () => Extension> = {
  liquid: () => liquid(),
  html: () => liquid({ base: html() }),
  json: () => json(),
  text: () => [],
}

const look = EditorView.theme({
  '&': { fontSize: '12.5px', color: 'var(--ink)', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px' },
  '.cm-content': { padding: '5px 0', caretColor: 'var(--accent)' },
  // Each line follows the direction of its first letter: Arabic starts at the right.
  '.cm-line': { padding: '0 10px', unicodeBidi: 'plaintext' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--muted)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection': {
    backgroundColor: 'color-mix(in oklab, var(--accent) 25%, transparent) !important',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--hover)',
    outline: '1px solid var(--line-strong)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--page)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    boxShadow: '0 8px 24px -6px var(--shadow)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--font-mono)',
    fontSize: '12.5px',
    maxHeight: '240px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 8px', lineHeight: '20px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--hover)', color: 'var(--ink)' },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal', marginLeft: '12px' },
  '.cm-completionInfo': { padding: '8px', maxWidth: '280px', fontFamily: 'var(--font-sans)', color: 'var(--muted)' },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)', fontWeight: '600' },
  '.cm-diagnostic': { padding: '6px 8px', fontFamily: 'var(--font-sans)' },
})

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword], color: 'var(--hue-chat)' },
    { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--info)' },
    { tag: [tags.variableName, tags.propertyName], color: 'var(--accent)' },
    { tag: [tags.tagName, tags.angleBracket], color: 'var(--hue-sms)' },
    { tag: tags.attributeName, color: 'var(--hue-digest)' },
    { tag: [tags.comment, tags.meta], color: 'var(--muted)' },
    { tag: [tags.brace, tags.processingInstruction], color: 'var(--muted)' },
  ]),
)

export function CodeMirror(props: CodeMirrorProps) {
  const { value, language, completions, problems, singleLine = false, readOnly = false, extensions, className } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const latest = useRef(props)
  latest.current = props
  const changing = useRef(new Compartment())

  const { hasLineNumbers = false, placeholder = '' } = props
  const label = props['aria-label']
  const describedBy = props['aria-describedby']
  const { id } = props
  const configuration = () => [
    languages[language](),
    EditorState.readOnly.of(readOnly),
    EditorView.editable.of(!readOnly),
    hasLineNumbers ? lineNumbers() : [],
    placeholder ? showPlaceholder(placeholder) : [],
    // Without our own source, each language offers its default completions.
    autocompletion(completions ? { override: [completions], icons: false } : { icons: false }),
    EditorView.contentAttributes.of({
      tabindex: '0',
      ...(label ? { 'aria-label': label } : {}),
      ...(describedBy ? { 'aria-describedby': describedBy } : {}),
      ...(id ? { id } : {}),
    }),
    extensions ?? [],
  ]

  // biome-ignore lint/correctness/useExhaustiveDependencies: created once; changes go through the compartment below
  useEffect(() => {
    const editor = new EditorView({
      parent: host.current ?? document.body,
      doc: value,
      extensions: [
        history(),
        EditorView.perLineTextDirection.of(true),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        singleLine
          ? EditorState.transactionFilter.of((change) => (change.newDoc.lines > 1 ? [] : change))
          : EditorView.lineWrapping,
        // Tab leaves a single-line field and indents in a larger one, which Escape then Tab leaves.
        keymap.of([
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap,
          ...(singleLine ? [] : [indentWithTab]),
        ]),
        look,
        colours,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) latest.current.onValue(update.state.doc.toString())
        }),
        changing.current.of(configuration()),
      ],
    })
    view.current = editor
    return () => editor.destroy()
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: configuration depends on these
  useEffect(() => {
    view.current?.dispatch({ effects: changing.current.reconfigure(configuration()) })
  }, [language, readOnly, hasLineNumbers, placeholder, completions, extensions, label, describedBy, id])

  // Before the next key: an effect that runs later could put an older text back.
  useLayoutEffect(() => {
    const editor = view.current
    if (!editor || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])

  useEffect(() => {
    const editor = view.current
    if (!editor) return
    const { length } = editor.state.doc
    const inside = (problems ?? []).map((one) => ({
      ...one,
      from: Math.min(one.from, length),
      to: Math.min(one.to, length),
    }))
    editor.dispatch(setDiagnostics(editor.state, inside))
  }, [problems])

  return (
    <div
      ref={host}
      data-invalid={props['aria-invalid']}
      className={cn(
        'w-full overflow-auto rounded-control border border-line-strong bg-page transition-[border-color,box-shadow] duration-120 focus-within:border-accent focus-within:ring-2 focus-within:ring-accent/25 hover:border-faint data-[invalid=true]:border-bad',
        readOnly && 'bg-sunken',
        singleLine ? 'min-h-8' : 'max-h-120 min-h-24',
        className,
      )}
    />
  )
}
