// The settings of the selected block, or of the box around the cursor.
import type { Editor } from '@tiptap/core'
import { NodeSelection } from '@tiptap/pm/state'
import { ArrowDown, ArrowUp, CopyPlus, SlidersHorizontal, Trash2, X } from 'lucide-react'
import { Popover } from 'radix-ui'
import { type RefObject, useId, useState } from 'react'
import { Button } from '../base/button.tsx'
import type { Variable } from '../code/liquid.ts'
import { LiquidEditor } from '../code/liquid-editor.tsx'
import { Input } from '../form/input.tsx'
import { Select } from '../form/select.tsx'
import { moreOf } from './block-document.ts'
import { shownText } from './block-nodes.ts'
import { useBlockBox } from './block-place.tsx'

type Attributes = Record<string, unknown>

interface Setting {
  name: string
  label: string
  kind: 'text' | 'number' | 'colour' | 'choice' | 'path'
  /** The attribute that marks the text as a variable path. */
  flag?: string
  options?: readonly string[]
  fallback?: string
  isHalf?: boolean
}

const choice = (name: string, label: string, options: readonly string[], fallback: string): Setting => ({
  ...{ name, label, kind: 'choice', options, fallback, isHalf: true },
})
const colour = (name: string, label: string, fallback: string): Setting => ({
  name,
  label,
  kind: 'colour',
  fallback,
  isHalf: true,
})
const number = (name: string, label: string, fallback = ''): Setting => ({
  name,
  label,
  kind: 'number',
  fallback,
  isHalf: true,
})
const words = (name: string, label: string, flag?: string): Setting => ({
  name,
  label,
  kind: 'text',
  ...(flag ? { flag } : {}),
})
const showIf: Setting = { name: 'showIfKey', label: 'Only if', kind: 'path' }
const alignment = choice('alignment', 'Alignment', ['left', 'center', 'right'], 'left')
const paddings = [number('paddingTop', 'Space above'), number('paddingBottom', 'Space below')]

interface BlockLook {
  label: string
  settings: Setting[]
}

const picture = [
  words('src', 'Address of the picture', 'isSrcVariable'),
  words('alt', 'Alternative text'),
  words('externalLink', 'Link', 'isExternalLinkVariable'),
]
const repeat: BlockLook = {
  label: 'Repeat',
  settings: [{ name: 'each', label: 'For each of', kind: 'path' }, number('iterations', 'At most'), showIf],
}

const looks: Record<string, BlockLook> = {
  button: {
    label: 'Button',
    settings: [
      words('text', 'Label', 'isTextVariable'),
      words('url', 'Link', 'isUrlVariable'),
      alignment,
      choice('variant', 'Kind', ['filled', 'outline'], 'filled'),
      choice('borderRadius', 'Corners', ['sharp', 'smooth', 'round'], 'smooth'),
      { ...choice('width', 'Width', ['auto', '100%'], 'auto') },
      colour('buttonColor', 'Colour', '#000000'),
      colour('textColor', 'Text', '#ffffff'),
      showIf,
    ],
  },
  image: {
    label: 'Picture',
    settings: [
      ...picture,
      { ...alignment, fallback: 'center' },
      number('width', 'Width'),
      number('borderRadius', 'Corners'),
      showIf,
    ],
  },
  logo: { label: 'Logo', settings: [...picture, alignment, choice('size', 'Size', ['sm', 'md', 'lg'], 'sm'), showIf] },
  inlineImage: {
    label: 'Picture in the text',
    settings: [...picture, number('width', 'Width', '20'), number('height', 'Height', '20')],
  },
  spacer: { label: 'Space', settings: [number('height', 'Height', '8'), showIf] },
  horizontalRule: { label: 'Divider', settings: [...paddings, showIf] },
  section: {
    label: 'Section',
    settings: [
      colour('backgroundColor', 'Background', '#ffffff'),
      colour('borderColor', 'Border', '#e2e2e2'),
      number('borderWidth', 'Border width', '0'),
      number('borderRadius', 'Corners', '6'),
      ...paddings,
      choice('align', 'Alignment', ['left', 'center', 'right'], 'left'),
      showIf,
    ],
  },
  columns: { label: 'Columns', settings: [number('gap', 'Space between', '8'), showIf] },
  column: {
    label: 'Column',
    settings: [
      number('width', 'Width in %'),
      choice('verticalAlign', 'Vertical alignment', ['top', 'middle', 'bottom'], 'top'),
    ],
  },
  repeat,
  for: repeat,
  htmlCodeBlock: { label: 'HTML', settings: [showIf] },
  linkCard: {
    label: 'Link card',
    settings: [
      words('title', 'Title'),
      words('description', 'Description'),
      words('linkTitle', 'Link text'),
      words('link', 'Link', 'isLinkVariable'),
      words('image', 'Picture'),
      words('badgeText', 'Badge'),
    ],
  },
  variable: {
    label: 'Variable',
    settings: [{ name: 'id', label: 'Variable', kind: 'path' }, words('fallback', 'Fallback')],
  },
  unknownBlock: { label: 'Unknown block', settings: [] },
}

export interface ChosenBlock {
  type: string
  position: number
  more: Attributes
  isSelected: boolean
}

/** The selected block, otherwise the innermost box around the cursor. */
export function chosenBlock({ state: { selection } }: Editor): ChosenBlock | undefined {
  if (selection instanceof NodeSelection && looks[selection.node.type.name])
    return {
      type: selection.node.type.name,
      position: selection.from,
      more: moreOf(selection.node.attrs),
      isSelected: true,
    }
  const { $from } = selection
  for (let depth = $from.depth; depth > 0; depth -= 1) {
    const node = $from.node(depth)
    if (looks[node.type.name])
      return { type: node.type.name, position: $from.before(depth), more: moreOf(node.attrs), isSelected: false }
  }
  return undefined
}

function change(editor: Editor, { position }: ChosenBlock, patch: Attributes): void {
  const { state, view } = editor
  const node = state.doc.nodeAt(position)
  if (!node) return
  const more = Object.fromEntries(
    Object.entries({ ...moreOf(node.attrs), ...patch }).filter(([, value]) => value !== undefined && value !== ''),
  )
  const transaction = state.tr.setNodeMarkup(position, undefined, { ...node.attrs, more })
  if (state.selection instanceof NodeSelection && state.selection.from === position)
    transaction.setSelection(NodeSelection.create(transaction.doc, position))
  view.dispatch(transaction)
}

/** Swaps the block with its neighbour in the same box. */
function move(editor: Editor, { position }: ChosenBlock, by: 1 | -1): void {
  const { state, view } = editor
  const node = state.doc.nodeAt(position)
  const $position = state.doc.resolve(position)
  const neighbour = by === 1 ? $position.parent.maybeChild($position.index() + 1) : $position.nodeBefore
  if (!node || !neighbour) return
  const to = by === 1 ? position + neighbour.nodeSize : position - neighbour.nodeSize
  const transaction = state.tr.delete(position, position + node.nodeSize).insert(to, node)
  transaction.setSelection(NodeSelection.create(transaction.doc, to))
  view.dispatch(transaction.scrollIntoView())
}

function duplicate(editor: Editor, { position }: ChosenBlock): void {
  const { state, view } = editor
  const node = state.doc.nodeAt(position)
  if (node) view.dispatch(state.tr.insert(position + node.nodeSize, node).scrollIntoView())
}

function remove(editor: Editor, { position }: ChosenBlock): void {
  const node = editor.state.doc.nodeAt(position)
  if (node)
    editor
      .chain()
      .focus()
      .deleteRange({ from: position, to: position + node.nodeSize })
      .run()
}

interface BlockSettingsProps {
  editor: Editor
  block: ChosenBlock
  variables: readonly Variable[]
}

/**
 * Beside the block, or below it where there is no room: never over it. They open by themselves for a block that is edited
 * through them, and by a button for a box that one writes in.
 */
export function BlockSettings({
  editor,
  frame,
  block,
  variables,
}: BlockSettingsProps & { frame: RefObject<HTMLElement | null> }) {
  const box = useBlockBox(editor, frame, block.position)
  const needsList = (block.type === 'repeat' || block.type === 'for') && !block.more.each
  const [wanted, setWanted] = useState<{ position: number; isOpen: boolean }>()
  const isOpen = wanted?.position === block.position ? wanted.isOpen : block.isSelected || needsList
  const setOpen = (next: boolean) => setWanted({ position: block.position, isOpen: next })
  const look = looks[block.type]
  if (!look || !box) return null
  return (
    <Popover.Root open={isOpen}>
      <Popover.Anchor className="pointer-events-none absolute" style={box} />
      {!isOpen && (
        <Button
          size="sm"
          variant="ghost"
          icon={<SlidersHorizontal />}
          className="absolute z-1 h-6 bg-raised px-1.5 text-xs"
          style={{ top: Math.max(0, box.top - 8), right: 8 }}
          onClick={() => setOpen(true)}
        >
          {look.label}
        </Button>
      )}
      <Popover.Portal>
        <Popover.Content
          side={window.innerWidth < 768 ? 'bottom' : 'right'}
          align="start"
          sideOffset={8}
          collisionPadding={8}
          onOpenAutoFocus={(event) => event.preventDefault()}
          onCloseAutoFocus={(event) => event.preventDefault()}
          onEscapeKeyDown={() => {
            setOpen(false)
            editor.commands.focus()
          }}
          className="z-40 w-72 max-w-[calc(100vw-16px)] animate-appear overflow-hidden rounded-surface border border-line bg-page shadow-float outline-none"
        >
          <Settings editor={editor} block={block} variables={variables} onClose={() => setOpen(false)} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function Settings({ editor, block, variables, onClose }: BlockSettingsProps & { onClose: () => void }) {
  const look = looks[block.type]
  if (!look) return null
  return (
    <section
      aria-label={`Block settings: ${look.label}`}
      className="max-h-[min(60vh,var(--radix-popover-content-available-height))] overflow-y-auto p-3"
    >
      <header className="mb-2 flex items-center gap-0.5">
        <h3 className="flex-1 text-xs font-medium text-muted">{look.label}</h3>
        {block.type !== 'variable' && block.type !== 'column' && (
          <>
            <Button variant="ghost" size="icon-sm" hint="Move the block up" onClick={() => move(editor, block, -1)}>
              <ArrowUp />
            </Button>
            <Button variant="ghost" size="icon-sm" hint="Move the block down" onClick={() => move(editor, block, 1)}>
              <ArrowDown />
            </Button>
            <Button variant="ghost" size="icon-sm" hint="Duplicate the block" onClick={() => duplicate(editor, block)}>
              <CopyPlus />
            </Button>
          </>
        )}
        <Button variant="ghost" size="icon-sm" hint="Delete the block" onClick={() => remove(editor, block)}>
          <Trash2 />
        </Button>
        <Button variant="ghost" size="icon-sm" hint="Close" onClick={onClose}>
          <X />
        </Button>
      </header>
      <div className="grid grid-cols-2 gap-2">
        {look.settings.map((setting) => (
          <SettingField
            key={`${block.position}.${setting.name}`}
            setting={setting}
            more={block.more}
            variables={variables}
            onChange={(patch) => change(editor, block, patch)}
          />
        ))}
      </div>
    </section>
  )
}

interface SettingFieldProps {
  setting: Setting
  more: Attributes
  variables: readonly Variable[]
  onChange: (patch: Attributes) => void
}

function SettingField({ setting, more, variables, onChange }: SettingFieldProps) {
  const id = useId()
  const { name, label, kind, flag, options = [], fallback = '', isHalf } = setting
  const value = more[name]
  const plain = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return (
    <div className={isHalf ? '' : 'col-span-2'}>
      <label htmlFor={id} className="mb-1 block text-xs text-muted">
        {label}
      </label>
      {kind === 'choice' ? (
        <Select
          id={id}
          aria-label={label}
          value={options.includes(plain) ? plain : fallback}
          onValue={(next) => onChange({ [name]: next === 'auto' ? undefined : next })}
          options={options.map((one) => ({ value: one, label: one }))}
        />
      ) : kind === 'colour' ? (
        <span className="flex gap-1.5">
          <input
            type="color"
            aria-label={`${label}: choose`}
            className="h-8 w-9 shrink-0 rounded-control border border-line-strong bg-page p-1"
            value={/^#[\da-f]{6}$/i.test(plain || fallback) ? plain || fallback : '#000000'}
            onChange={(event) => onChange({ [name]: event.target.value })}
          />
          <Input id={id} value={plain} placeholder={fallback} onValue={(next) => onChange({ [name]: next })} />
        </span>
      ) : kind === 'number' ? (
        <Input
          id={id}
          type="number"
          min={0}
          value={plain}
          placeholder={fallback}
          onValue={(next) => onChange({ [name]: next === '' ? undefined : Number(next) })}
        />
      ) : kind === 'path' ? (
        <>
          <Input
            id={id}
            list={`${id}-paths`}
            className="font-mono text-code"
            spellCheck={false}
            placeholder="payload.items"
            value={plain}
            onValue={(next) => onChange({ [name]: next })}
          />
          <datalist id={`${id}-paths`}>
            {variables.map(({ path }) => (
              <option key={path} value={path} />
            ))}
          </datalist>
        </>
      ) : (
        <LiquidEditor
          id={id}
          aria-label={label}
          singleLine
          value={flag ? shownText(value, more[flag]) : plain}
          onValue={(next) => onChange({ [name]: next, ...(flag ? { [flag]: undefined } : {}) })}
          variables={variables}
        />
      )}
    </div>
  )
}
