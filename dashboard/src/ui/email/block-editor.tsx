// The block editor. Loaded on demand: pages use email-editor.tsx.
import { getSchema } from '@tiptap/core'
import type { Schema } from '@tiptap/pm/model'
import { EditorContent, useEditor, useEditorState } from '@tiptap/react'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { cn } from '../base/class-names.ts'
import { Kbd } from '../base/tooltip.tsx'
import type { Variable } from '../code/liquid.ts'
import { type BlockNode, fromEditor, readDocument, toEditor } from './block-document.ts'
import { insertsFor } from './block-inserts.ts'
import { extensionsWith, issuesKey } from './block-nodes.ts'
import { DragHandle, SlashMenu } from './block-place.tsx'
import { BlockSettings, chosenBlock } from './block-settings.tsx'
import { BlockToolbar } from './block-toolbar.tsx'

interface BlockEditorProps {
  label: string
  /** The document as JSON; anything else becomes an empty document. */
  value: string
  onValue: (value: string) => void
  variables: readonly Variable[]
  issues: ReadonlyArray<{ message: string; variableName?: string | undefined }>
  isWrong: boolean
  /** What a new Repeat goes through. */
  repeatOver?: string | undefined
  readOnly: boolean
}

const emptyDocument: BlockNode = { type: 'doc', content: [{ type: 'paragraph' }] }

/** A block that the editor would have to change is sealed instead. */
function loadable(schema: Schema, document: BlockNode): BlockNode {
  const originals = document.content ?? []
  const { content = [] } = toEditor(document)
  const fitting = content.map((block, index) => {
    try {
      schema.nodeFromJSON({ type: 'doc', content: [block] }).check()
      return block
    } catch {
      return { type: 'unknownBlock', attrs: { json: JSON.stringify(originals[index]) } }
    }
  })
  return { type: 'doc', content: fitting }
}

const contentClass = cn(
  'min-h-64 px-5 pt-3 pb-10 text-base leading-6 outline-none [&_.ProseMirror-selectednode]:rounded-sm [&_.ProseMirror-selectednode]:outline-2 [&_.ProseMirror-selectednode]:outline-accent',
  '[&_h1]:my-2 [&_h1]:text-[26px] [&_h1]:leading-8 [&_h1]:font-semibold [&_h2]:my-2 [&_h2]:text-title [&_h2]:font-semibold [&_h3]:my-2 [&_h3]:text-lg [&_h3]:font-semibold',
  '[&_p]:my-1.5 [&_ul]:my-1.5 [&_ul]:list-disc [&_ul]:pl-6 [&_ol]:my-1.5 [&_ol]:list-decimal [&_ol]:pl-6 [&_blockquote]:my-2 [&_blockquote]:border-l-3 [&_blockquote]:border-line-strong [&_blockquote]:pl-3',
  '[&_hr]:my-4 [&_hr]:border-line-strong [&_code]:rounded-sm [&_code]:bg-sunken [&_code]:px-1 whitespace-pre-wrap',
)

export function BlockEditor(props: BlockEditorProps) {
  const { label, value, onValue, variables, issues, isWrong, repeatOver, readOnly } = props
  const [isAsking, setAsking] = useState(false)
  const [isSlashed, setSlashed] = useState(false)
  const frame = useRef<HTMLDivElement>(null)
  const keys = useRef<(event: KeyboardEvent) => boolean>(undefined)
  const inserts = useMemo(() => insertsFor(repeatOver, variables), [repeatOver, variables])
  const latest = useRef({ onValue, issues })
  latest.current = { onValue, issues }
  /** The last output of the editor, so that it does not reload its own change. */
  const written = useRef(value)
  const [setUp] = useState(() => {
    const extensions = extensionsWith({
      onAsk: () => setAsking(true),
      onSlash: () => setSlashed(true),
      issues: () => ({ wrong: latest.current.issues.flatMap(({ variableName }) => variableName ?? []) }),
    })
    const attributes = {
      class: contentClass,
      role: 'textbox',
      'aria-multiline': 'true',
      'aria-label': label,
      dir: 'auto',
    }
    const content = loadable(getSchema(extensions), readDocument(value) ?? emptyDocument)
    const handleKeyDown = (_: unknown, event: KeyboardEvent) => keys.current?.(event) ?? false
    return { extensions, content, editorProps: { attributes, handleKeyDown } }
  })
  const editor = useEditor({
    ...setUp,
    editable: !readOnly,
    shouldRerenderOnTransaction: false,
    onUpdate: ({ editor: changed }) => {
      const next = JSON.stringify(fromEditor(changed.getJSON() as BlockNode))
      written.current = next
      latest.current.onValue(next)
    },
  })

  // Before the next key: an effect that runs later could put an older text back.
  useLayoutEffect(() => {
    if (!editor || value === written.current) return
    written.current = value
    const document = readDocument(value) ?? emptyDocument
    const content = loadable(editor.schema, document)
    editor.chain().setMeta('addToHistory', false).setContent(content, { emitUpdate: false }).run()
  }, [editor, value])

  useEffect(() => {
    editor?.setEditable(!readOnly, false)
  }, [editor, readOnly])

  // biome-ignore lint/correctness/useExhaustiveDependencies: redraw the marks when the issues change
  useEffect(() => {
    if (editor && !editor.isDestroyed) editor.view.dispatch(editor.state.tr.setMeta(issuesKey, true))
  }, [editor, issues])

  const block = useEditorState({
    editor,
    selector: ({ editor: now }) => (now ? chosenBlock(now) : undefined),
  })

  return (
    <div
      className={cn(
        'rounded-control border border-line-strong bg-page transition-[border-color,box-shadow] duration-120 focus-within:border-accent',
        isWrong && 'border-bad',
        readOnly && 'bg-sunken',
      )}
    >
      {editor && !readOnly && (
        <BlockToolbar
          editor={editor}
          variables={variables}
          inserts={inserts}
          isAsking={isAsking}
          onAsking={setAsking}
        />
      )}
      <div ref={frame} className="relative">
        <EditorContent editor={editor} />
        {editor && !readOnly && (
          <>
            <DragHandle editor={editor} frame={frame} />
            <SlashMenu
              editor={editor}
              frame={frame}
              inserts={inserts}
              keys={keys}
              isOpen={isSlashed}
              onClose={() => setSlashed(false)}
            />
            {block && <BlockSettings editor={editor} frame={frame} block={block} variables={variables} />}
          </>
        )}
      </div>
      {!readOnly && (
        <p className="flex flex-wrap gap-x-3 border-t px-4 py-1 text-xs text-muted pointer-coarse:hidden">
          <span>
            <Kbd keys="/" /> adds a block
          </span>
          <span>
            <Kbd keys="alt+↑" /> moves it
          </span>
          <span>
            <Kbd keys="mod+enter" /> goes below
          </span>
        </p>
      )}
    </div>
  )
}
