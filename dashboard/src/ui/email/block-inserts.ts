// The blocks that can be added. Repeat comes filled in with the list it most likely goes through.
import type { Editor } from '@tiptap/core'
import type { ResolvedPos } from '@tiptap/pm/model'
import { Selection } from '@tiptap/pm/state'
import {
  CodeXml,
  Columns2,
  Heading,
  Image,
  type LucideIcon,
  Minus,
  MousePointerClick,
  MoveVertical,
  PanelTop,
  Quote,
  Repeat,
  Square,
  SquareArrowOutUpRight,
  TextInitial,
} from 'lucide-react'
import type { Variable } from '../code/liquid.ts'
import { type BlockNode, moreOf } from './block-document.ts'

export interface InsertItem {
  label: string
  icon: LucideIcon
  block: BlockNode
}

const empty: BlockNode = { type: 'paragraph' }

/** @param list what a Repeat goes through: the events of the digest before this step, for example */
export function insertsFor(list: string | undefined, variables: readonly Variable[]): InsertItem[] {
  const each = list ?? variables.find(({ type }) => type === 'list')?.path ?? ''
  return [
    {
      label: 'Button',
      icon: MousePointerClick,
      block: { type: 'button', attrs: { more: { text: 'Open', url: '' } } },
    },
    { label: 'Picture', icon: Image, block: { type: 'image', attrs: { more: {} } } },
    { label: 'Heading', icon: Heading, block: { type: 'heading', attrs: { level: 2 } } },
    { label: 'Divider', icon: Minus, block: { type: 'horizontalRule' } },
    { label: 'Space', icon: MoveVertical, block: { type: 'spacer', attrs: { more: { height: 24 } } } },
    { label: 'Quote', icon: Quote, block: { type: 'blockquote', content: [empty] } },
    { label: 'Section', icon: Square, block: { type: 'section', content: [empty] } },
    {
      label: 'Two columns',
      icon: Columns2,
      block: {
        type: 'columns',
        content: [
          { type: 'column', content: [empty] },
          { type: 'column', content: [empty] },
        ],
      },
    },
    { label: 'Repeat', icon: Repeat, block: repeatOver(each, variables) },
    { label: 'HTML', icon: CodeXml, block: { type: 'htmlCodeBlock' } },
    { label: 'Link card', icon: SquareArrowOutUpRight, block: { type: 'linkCard', attrs: { more: {} } } },
    { label: 'Logo', icon: PanelTop, block: { type: 'logo', attrs: { more: {} } } },
    { label: 'Small print', icon: TextInitial, block: { type: 'footer' } },
  ]
}

/** With the first field of an item, to show how it is written. */
function repeatOver(each: string, variables: readonly Variable[]): BlockNode {
  const field = each === '' ? undefined : fieldsOfItem(each, variables).find(({ label }) => !plain.has(label))
  const content = field ? [{ type: 'variable', attrs: { more: { id: field.path } } }] : []
  return { type: 'repeat', attrs: { more: { each } }, content: [{ ...empty, ...(field ? { content } : {}) }] }
}

/** Every event has them; they are rarely what a message is about. */
const plain = new Set(['id', 'time'])

export interface ItemField {
  /** As blocks name it: by the path of the list. */
  path: string
  /** As it is called in the item. */
  label: string
}

const withoutBraces = (path: string) => path.replaceAll(/^\s*\{\{|\}\}\s*$/g, '').trim()

/** The fields of one item of a list. The events of a digest are triggers of the same workflow: their payload is the payload. */
export function fieldsOfItem(list: string, variables: readonly Variable[]): ItemField[] {
  const each = withoutBraces(list)
  const paths = variables.filter(({ path }) => path.startsWith(`${each}.`)).map(({ path }) => path)
  const ofEvents = /^steps\.[^.]+\.events$/.test(each)
    ? variables.filter(({ path }) => path.startsWith('payload.')).map(({ path }) => `${each}.${path}`)
    : []
  const all = [...ofEvents, ...paths.filter((path) => ofEvents.length === 0 || path !== `${each}.payload`)]
  return [...new Set(all)]
    .filter((path) => path !== `${each}.length`)
    .map((path) => ({ path, label: path.slice(each.length + 1) }))
}

/** The list of the innermost Repeat around a place. */
export function repeatedAt($place: ResolvedPos): string | undefined {
  for (let depth = $place.depth; depth > 0; depth -= 1) {
    const { type, attrs } = $place.node(depth)
    const { each } = moreOf(attrs)
    if ((type.name === 'repeat' || type.name === 'for') && typeof each === 'string' && each !== '') return each
  }
  return undefined
}

/** Puts a block at the cursor, or instead of a range. One writes on in a box that was added. */
export function putBlock(editor: Editor, block: BlockNode, range?: { from: number; to: number }): void {
  const from = range?.from ?? editor.state.selection.from
  const chain = editor.chain().focus()
  if (range) chain.deleteRange(range)
  chain.insertContent(block).run()
  if (!block.content) return
  let place: number | undefined
  editor.state.doc.descendants((node, position) => {
    const isHere = position <= from + 1 && position + node.nodeSize > from
    if (isHere && node.type.name === block.type) place = position
  })
  if (place === undefined) return
  const first = Selection.findFrom(editor.state.doc.resolve(place + 1), 1, true)
  if (first) editor.commands.setTextSelection(first.$from.end())
}
