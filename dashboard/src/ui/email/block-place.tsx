// Things that float at a block: an anchor that scrolls with it, the handle to drag it, and the menu behind "/".
import type { Editor } from '@tiptap/core'
import { NodeSelection } from '@tiptap/pm/state'
import { useEditorState } from '@tiptap/react'
import { GripVertical } from 'lucide-react'
import { Popover } from 'radix-ui'
import { type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { type InsertItem, putBlock } from './block-inserts.ts'
import { optionClass, popoverClass } from './block-toolbar.tsx'

interface Box {
  top: number
  left: number
  width: number
  height: number
}

const sameBox = (a: Box | undefined, b: Box | undefined) => JSON.stringify(a) === JSON.stringify(b)

/** A rectangle of the page, within the frame around the editor. */
function within(frame: HTMLElement, { top, left, width, height }: Box): Box {
  const outer = frame.getBoundingClientRect()
  return { top: top - outer.top, left: left - outer.left, width, height }
}

/** Where a block is, within the frame. It is measured again when the editor's content or size changes. */
export function useBlockBox(
  editor: Editor,
  frame: RefObject<HTMLElement | null>,
  position: number | undefined,
): Box | undefined {
  const [box, setBox] = useState<Box>()
  useLayoutEffect(() => {
    const measure = () => {
      const node = position === undefined || editor.isDestroyed ? null : editor.view.nodeDOM(position)
      const next =
        node instanceof HTMLElement && frame.current ? within(frame.current, node.getBoundingClientRect()) : undefined
      setBox((before) => (sameBox(before, next) ? before : next))
    }
    measure()
    const resizing = new ResizeObserver(measure)
    if (!editor.isDestroyed) resizing.observe(editor.view.dom)
    editor.on('transaction', measure)
    return () => {
      resizing.disconnect()
      editor.off('transaction', measure)
    }
  }, [editor, frame, position])
  return box
}

/** The outermost block at a height of the page. */
function blockAt(editor: Editor, y: number): number | undefined {
  const { view } = editor
  for (const child of view.dom.children) {
    const { top, bottom } = child.getBoundingClientRect()
    if (y < top - 4 || y > bottom + 4) continue
    const inside = view.posAtDOM(child, 0)
    const $inside = view.state.doc.resolve(Math.min(inside, view.state.doc.content.size))
    return $inside.depth === 0 ? inside : $inside.before(1)
  }
  return undefined
}

/** Appears left of the block under the pointer. Drag it, or click to select the block; Alt and the arrow keys move it too. */
export function DragHandle({ editor, frame }: { editor: Editor; frame: RefObject<HTMLElement | null> }) {
  const [position, setPosition] = useState<number>()
  const box = useBlockBox(editor, frame, position)
  useEffect(() => {
    const element = frame.current
    if (!element) return
    const follow = ({ clientY, target }: MouseEvent) => {
      if (target instanceof Element && target.closest('[data-drag-handle]')) return
      setPosition(editor.isDestroyed ? undefined : blockAt(editor, clientY))
    }
    const leave = () => setPosition(undefined)
    element.addEventListener('mousemove', follow)
    element.addEventListener('mouseleave', leave)
    return () => {
      element.removeEventListener('mousemove', follow)
      element.removeEventListener('mouseleave', leave)
    }
  }, [editor, frame])
  if (position === undefined || !box) return null
  const select = () => {
    const { state, view } = editor
    if (!state.doc.nodeAt(position)) return
    view.dispatch(state.tr.setSelection(NodeSelection.create(state.doc, position)))
    view.focus()
  }
  return (
    <button
      type="button"
      tabIndex={-1}
      data-drag-handle
      draggable
      aria-label="Drag the block"
      title="Drag to move, click to select"
      className="absolute left-0 z-1 grid h-7 w-4 cursor-grab place-items-center rounded-sm text-faint hover:bg-hover hover:text-muted active:cursor-grabbing"
      style={{ top: box.top }}
      onClick={select}
      onDragStart={(event) => {
        select()
        const { view, state } = editor
        const dom = view.nodeDOM(position)
        if (dom instanceof HTMLElement) event.dataTransfer.setDragImage(dom, 0, 0)
        event.dataTransfer.effectAllowed = 'move'
        event.dataTransfer.setData('text/plain', '')
        // ProseMirror moves what is dragged if it knows of it.
        view.dragging = { slice: state.selection.content(), move: true }
      }}
    >
      <GripVertical className="size-3.5" aria-hidden />
    </button>
  )
}

interface SlashMenuProps {
  editor: Editor
  frame: RefObject<HTMLElement | null>
  inserts: readonly InsertItem[]
  /** Set while the menu is open: the editor gives it the keys first. @returns whether it took the key */
  keys: RefObject<((event: KeyboardEvent) => boolean) | undefined>
  isOpen: boolean
  onClose: () => void
}

interface Typed {
  /** Where the slash is. */
  from: number
  text: string
}

/** What stands between a slash and the cursor. */
function typedAfterSlash({ state: { selection } }: Editor): Typed | undefined {
  const { $from, empty } = selection
  if (!empty || !$from.parent.isTextblock) return undefined
  const before = $from.parent.textBetween(0, $from.parentOffset, undefined, '\uFFFC')
  const [, text] = /(?:^|\s)\/([\p{L} ]{0,20})$/u.exec(before) ?? []
  return text === undefined ? undefined : { from: $from.pos - text.length - 1, text }
}

/** Blocks by name, at the cursor, which stays in the text: the arrow keys choose, Enter takes, Escape closes. */
export function SlashMenu({ editor, frame, inserts, keys, isOpen, onClose }: SlashMenuProps) {
  const id = useId()
  const [active, setActive] = useState(0)
  const typed = useEditorState({ editor, selector: ({ editor: now }) => (isOpen ? typedAfterSlash(now) : undefined) })
  const wanted = typed?.text.trim().toLowerCase() ?? ''
  const found = inserts.filter(({ label }) => label.toLowerCase().includes(wanted))
  const chosen = Math.min(active, found.length - 1)
  const isShown = isOpen && typed !== undefined && found.length > 0
  const put = (item: InsertItem | undefined) => {
    onClose()
    if (!item || !typed) return
    putBlock(editor, item.block, { from: typed.from, to: editor.state.selection.from })
  }
  keys.current = !isShown
    ? undefined
    : ({ key }) => {
        const by = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
        if (by !== 0) setActive((chosen + by + found.length) % found.length)
        else if (key === 'Enter' || key === 'Tab') put(found[chosen])
        else if (key === 'Escape') onClose()
        else return false
        return true
      }
  // Another text before the cursor, or a name that no block has, ends it.
  const isOver = isOpen && !isShown
  const close = useRef(onClose)
  close.current = onClose
  useEffect(() => {
    if (isOver) close.current()
    setActive(0)
  }, [isOver])
  useEffect(() => {
    if (!isShown) return
    editor.view.dom.setAttribute('aria-activedescendant', `${id}-${chosen}`)
    return () => {
      if (!editor.isDestroyed) editor.view.dom.removeAttribute('aria-activedescendant')
    }
  }, [editor, id, isShown, chosen])
  if (!isShown || !frame.current) return null
  const { top, left, bottom } = editor.view.coordsAtPos(typed.from)
  return (
    <Popover.Root open>
      <Popover.Anchor
        className="pointer-events-none absolute"
        style={within(frame.current, { top, left, width: 1, height: bottom - top })}
      />
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
          onInteractOutside={onClose}
          className={popoverClass}
          aria-label="Blocks"
        >
          <div role="listbox" aria-label="Blocks" className="max-h-64 overflow-y-auto p-1">
            {found.map((item, index) => {
              const { label, icon: Icon } = item
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the editor keeps the focus, and gives the menu its keys
                <div
                  key={label}
                  id={`${id}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === chosen}
                  data-selected={index === chosen}
                  className={optionClass}
                  onMouseEnter={() => setActive(index)}
                  // The editor keeps the focus.
                  onMouseDown={(event) => event.preventDefault()}
                  onClick={() => put(item)}
                >
                  <Icon className="size-4 text-muted" aria-hidden />
                  {label}
                </div>
              )
            })}
          </div>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
