// The toolbar above the blocks: text formatting and insertable blocks.
import type { Editor } from '@tiptap/core'
import { useEditorState } from '@tiptap/react'
import { Command } from 'cmdk'
import {
  AlignCenter,
  AlignLeft,
  AlignRight,
  Bold,
  Braces,
  Italic,
  Link,
  List,
  ListOrdered,
  type LucideIcon,
  Palette,
  Plus,
  Redo2,
  Strikethrough,
  Underline,
  Undo2,
} from 'lucide-react'
import { Popover } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { Button } from '../base/button.tsx'
import type { Variable } from '../code/liquid.ts'
import { Input } from '../form/input.tsx'
import { Select } from '../form/select.tsx'
import { Menu, MenuItem, MenuSeparator } from '../frame/menu.tsx'
import { moreOf } from './block-document.ts'
import { fieldsOfItem, type InsertItem, putBlock, repeatedAt } from './block-inserts.ts'
import { shownText } from './block-nodes.ts'

interface ToolbarProps {
  editor: Editor
  variables: readonly Variable[]
  inserts: readonly InsertItem[]
  isAsking: boolean
  onAsking: (isAsking: boolean) => void
}

const styles = [
  { value: 'paragraph', label: 'Text' },
  { value: '1', label: 'Heading 1' },
  { value: '2', label: 'Heading 2' },
  { value: '3', label: 'Heading 3' },
  { value: 'footer', label: 'Small print' },
]

export function BlockToolbar({ editor, variables, inserts, isAsking, onAsking }: ToolbarProps) {
  const state = useEditorState({
    editor,
    selector: ({ editor: now }) => {
      const block = now.state.selection.$from.parent
      return {
        style: now.isActive('heading')
          ? String(block.attrs.level ?? 1)
          : now.isActive('footer')
            ? 'footer'
            : 'paragraph',
        align: String(moreOf(block.attrs).textAlign ?? 'left'),
        isBold: now.isActive('bold'),
        isItalic: now.isActive('italic'),
        isUnderline: now.isActive('underline'),
        isStrike: now.isActive('strike'),
        isLink: now.isActive('link'),
        isBullets: now.isActive('bulletList'),
        isNumbers: now.isActive('orderedList'),
        canUndo: now.can().undo(),
        canRedo: now.can().redo(),
      }
    },
  })
  const chain = () => editor.chain().focus()
  const align = (textAlign: string) => {
    const { $from } = editor.state.selection
    const more = { ...moreOf($from.parent.attrs), textAlign }
    chain().updateAttributes($from.parent.type.name, { more }).run()
  }
  const restyle = (style: string) => {
    if (style === 'paragraph') chain().setNode('paragraph').run()
    else if (style === 'footer') chain().setNode('footer').run()
    else
      chain()
        .setNode('heading', { level: Number(style) })
        .run()
  }
  return (
    <div
      role="toolbar"
      aria-label="Blocks"
      className="sticky -top-4 z-2 flex flex-wrap items-center gap-0.5 rounded-t-control border-b bg-raised p-1"
    >
      <Insert editor={editor} inserts={inserts} onVariable={() => onAsking(true)} />
      <VariablePicker editor={editor} variables={variables} isOpen={isAsking} onOpen={onAsking} />
      <Divider />
      <Select aria-label="Style" className="h-7 w-28" value={state.style} onValue={restyle} options={styles} />
      <Toggle icon={Bold} hint="Bold" shortcut="mod+b" isOn={state.isBold} onClick={() => chain().toggleBold().run()} />
      <Toggle
        icon={Italic}
        hint="Italic"
        shortcut="mod+i"
        isOn={state.isItalic}
        onClick={() => chain().toggleItalic().run()}
      />
      <Toggle
        icon={Underline}
        hint="Underline"
        shortcut="mod+u"
        isOn={state.isUnderline}
        onClick={() => chain().toggleUnderline().run()}
      />
      <Toggle
        icon={Strikethrough}
        hint="Strike through"
        isOn={state.isStrike}
        onClick={() => chain().toggleStrike().run()}
      />
      <LinkPicker editor={editor} isOn={state.isLink} />
      <ColourPicker editor={editor} />
      <Divider />
      <Toggle icon={AlignLeft} hint="Left" isOn={state.align === 'left'} onClick={() => align('left')} />
      <Toggle icon={AlignCenter} hint="Centre" isOn={state.align === 'center'} onClick={() => align('center')} />
      <Toggle icon={AlignRight} hint="Right" isOn={state.align === 'right'} onClick={() => align('right')} />
      <Divider />
      <Toggle icon={List} hint="List" isOn={state.isBullets} onClick={() => chain().toggleBulletList().run()} />
      <Toggle
        icon={ListOrdered}
        hint="Numbered list"
        isOn={state.isNumbers}
        onClick={() => chain().toggleOrderedList().run()}
      />
      <span className="ml-auto flex gap-0.5">
        <Toggle
          icon={Undo2}
          hint="Undo"
          shortcut="mod+z"
          disabled={!state.canUndo}
          onClick={() => chain().undo().run()}
        />
        <Toggle
          icon={Redo2}
          hint="Redo"
          shortcut="mod+y"
          disabled={!state.canRedo}
          onClick={() => chain().redo().run()}
        />
      </span>
    </div>
  )
}

const Divider = () => <span aria-hidden className="mx-0.5 h-5 w-px bg-line" />

interface ToggleProps {
  icon: LucideIcon
  hint: string
  shortcut?: string
  isOn?: boolean
  disabled?: boolean
  onClick: () => void
}

function Toggle({ icon: Icon, hint, shortcut, isOn, disabled = false, onClick }: ToggleProps) {
  return (
    <Button
      variant="ghost"
      size="icon-sm"
      hint={hint}
      {...(shortcut ? { shortcut } : {})}
      disabled={disabled}
      {...(isOn === undefined ? {} : { 'aria-pressed': isOn })}
      className="size-7 aria-pressed:bg-accent/12 aria-pressed:text-accent"
      onClick={onClick}
    >
      <Icon />
    </Button>
  )
}

function Insert({
  editor,
  inserts,
  onVariable,
}: {
  editor: Editor
  inserts: readonly InsertItem[]
  onVariable: () => void
}) {
  return (
    <Menu
      align="start"
      trigger={
        <Button size="sm" variant="ghost" icon={<Plus />}>
          Add block
        </Button>
      }
    >
      {inserts.map(({ label, icon: Icon, block }) => (
        <MenuItem key={label} icon={<Icon />} onSelect={() => putBlock(editor, block)}>
          {label}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem icon={<Braces />} shortcut="{{" onSelect={() => setTimeout(onVariable)}>
        Variable
      </MenuItem>
    </Menu>
  )
}

export const popoverClass =
  'z-50 w-72 animate-appear overflow-hidden rounded-surface border border-line bg-page shadow-float outline-none'

interface VariablePickerProps {
  editor: Editor
  variables: readonly Variable[]
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
}

function VariablePicker({ editor, variables, isOpen, onOpen }: VariablePickerProps) {
  const [typed, setTyped] = useState('')
  const list = useEditorState({ editor, selector: ({ editor: now }) => repeatedAt(now.state.selection.$from) })
  const ofItem = list === undefined ? [] : fieldsOfItem(list, variables)
  const taken = new Set(ofItem.map(({ path }) => path))
  const others = variables.filter(({ path }) => !taken.has(path))
  const put = (path: string) => {
    onOpen(false)
    setTyped('')
    const content = [
      { type: 'variable', attrs: { more: { id: path } } },
      { type: 'text', text: ' ' },
    ]
    editor.chain().focus().insertContent(content).run()
  }
  return (
    <Popover.Root open={isOpen} onOpenChange={onOpen}>
      <Popover.Trigger asChild>
        <Button size="icon-sm" variant="ghost" className="size-7" aria-label="Variable">
          <Braces />
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="start"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            editor.commands.focus()
          }}
          className={popoverClass}
        >
          <Command label="Variables">
            <Command.Input
              value={typed}
              // Strips braces the user typed.
              onValueChange={(next) => (next.endsWith('}}') ? put(next.slice(0, -2).trim()) : setTyped(next))}
              placeholder="Which variable?"
              className="h-9 w-full border-b bg-transparent px-3 font-mono text-code outline-none"
            />
            <Command.List className="max-h-64 overflow-y-auto p-1">
              {ofItem.map(({ path, label }) => (
                <Command.Item key={path} value={path} onSelect={() => put(path)} className={optionClass}>
                  <span className="truncate font-mono text-code">{label}</span>
                  <span className="ml-auto shrink-0 text-xs text-muted">of each item</span>
                </Command.Item>
              ))}
              {others.map(({ path, type }) => (
                <Command.Item key={path} value={path} onSelect={() => put(path)} className={optionClass}>
                  <span className="truncate font-mono text-code">{path}</span>
                  <span className="ml-auto text-xs text-muted">{type}</span>
                </Command.Item>
              ))}
              {/^[\w.[\]'-]+$/.test(typed) &&
                !variables.some(({ path }) => path.toLowerCase().includes(typed.toLowerCase())) && (
                  <Command.Item value={`use ${typed}`} onSelect={() => put(typed)} className={optionClass}>
                    Use <span className="font-mono text-code">{typed}</span>
                  </Command.Item>
                )}
            </Command.List>
          </Command>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

export const optionClass =
  'flex min-h-8 items-center gap-2 rounded-control px-2 text-sm select-none data-[selected=true]:bg-hover'

function Picker({
  label,
  icon: Icon,
  isOn,
  children,
}: {
  label: string
  icon: LucideIcon
  isOn: boolean
  children: (close: () => void) => ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button
          size="icon-sm"
          variant="ghost"
          aria-label={label}
          aria-pressed={isOn}
          className="size-7 aria-pressed:bg-accent/12 aria-pressed:text-accent"
        >
          <Icon />
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content align="start" sideOffset={4} collisionPadding={8} className={`${popoverClass} p-3`}>
          {children(() => setOpen(false))}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function LinkPicker({ editor, isOn }: { editor: Editor; isOn: boolean }) {
  return (
    <Picker label="Link" icon={Link} isOn={isOn}>
      {(close) => <LinkForm editor={editor} onDone={close} />}
    </Picker>
  )
}

function LinkForm({ editor, onDone }: { editor: Editor; onDone: () => void }) {
  const before = moreOf(editor.getAttributes('link'))
  const [href, setHref] = useState(shownText(before.href, before.isUrlVariable))
  const apply = () => {
    const { isUrlVariable: _, aliasFor: __, ...rest } = before
    const on = editor.chain().focus().extendMarkRange('link')
    if (href.trim() === '') on.unsetMark('link').run()
    else on.setMark('link', { more: { ...rest, href: href.trim() } }).run()
    onDone()
  }
  return (
    <form
      className="flex gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        apply()
      }}
    >
      <Input aria-label="Address" autoFocus placeholder="https://… or {{payload.url}}" value={href} onValue={setHref} />
      <Button type="submit" variant="primary">
        {href.trim() === '' ? 'Remove' : 'Link'}
      </Button>
    </form>
  )
}

const colours = ['#111827', '#6b7280', '#b91c1c', '#b45309', '#15803d', '#1d4ed8', '#7e22ce']

function ColourPicker({ editor }: { editor: Editor }) {
  const set = (color: string | undefined, close: () => void) => {
    const on = editor.chain().focus()
    if (color === undefined) on.unsetMark('textStyle').run()
    else on.setMark('textStyle', { more: { color } }).run()
    close()
  }
  return (
    <Picker label="Text colour" icon={Palette} isOn={false}>
      {(close) => (
        <div className="flex flex-wrap items-center gap-1.5">
          {colours.map((color) => (
            <button
              key={color}
              type="button"
              aria-label={`Colour ${color}`}
              onClick={() => set(color, close)}
              className="size-6 rounded-full border"
              style={{ background: color }}
            />
          ))}
          <Button size="sm" variant="ghost" onClick={() => set(undefined, close)}>
            Default
          </Button>
        </div>
      )}
    </Picker>
  )
}
