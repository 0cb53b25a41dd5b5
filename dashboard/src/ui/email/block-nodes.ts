// The nodes of the block editor: one for each block the server can render. Attributes are kept in `more` as in the document, so
// that those without a control are not lost.
import { type Editor, Extension, InputRule, Mark, mergeAttributes, Node } from '@tiptap/core'
import type { Node as ProseMirrorNode } from '@tiptap/pm/model'
import { NodeSelection, Plugin, PluginKey, Selection } from '@tiptap/pm/state'
import { Decoration, DecorationSet } from '@tiptap/pm/view'
import StarterKit from '@tiptap/starter-kit'
import { moreOf } from './block-document.ts'

type Attributes = Record<string, unknown>

const bag = {
  more: {
    default: {},
    parseHTML: (element: HTMLElement): Attributes => {
      try {
        return JSON.parse(element.dataset.more ?? '{}') as Attributes
      } catch {
        return {}
      }
    },
    renderHTML: (attributes: Attributes) => {
      const more = moreOf(attributes)
      return Object.keys(more).length > 0 ? { 'data-more': JSON.stringify(more) } : {}
    },
  },
}

const text = (value: unknown, otherwise = ''): string =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : otherwise
const pixels = (value: unknown, otherwise: number): number => {
  const number = Number.parseFloat(text(value))
  return Number.isFinite(number) ? number : otherwise
}
const colour = (value: unknown, otherwise: string): string =>
  /^[#\w(),.% ]+$/.test(text(value)) ? text(value) : otherwise

/** A variable value in template form. */
export const shownText = (value: unknown, isVariable: unknown): string => {
  const plain = text(value)
  return isVariable === true && plain !== '' && !plain.includes('{{') ? `{{${plain}}}` : plain
}

const alignments: Record<string, string> = {
  left: 'justify-start',
  center: 'justify-center',
  right: 'justify-end',
}
const alignmentOf = (value: unknown, otherwise = 'left') => alignments[text(value, otherwise)] ?? 'justify-start'

type Spec = ['div' | 'span' | 'img' | 'pre' | 'p', Attributes, ...unknown[]]

interface Atom {
  name: string
  isInline?: boolean
  render: (more: Attributes) => Spec
}

/** A block edited through its settings, not by typing. */
const atom = ({ name, isInline = false, render }: Atom) =>
  Node.create({
    name,
    group: isInline ? 'inline' : 'block',
    inline: isInline,
    atom: true,
    selectable: true,
    draggable: true,
    addAttributes: () => bag,
    parseHTML: () => [{ tag: `[data-block="${name}"]` }],
    renderHTML({ node, HTMLAttributes }) {
      const [tag, attributes, ...content] = render(moreOf(node.attrs))
      return [tag, mergeAttributes(HTMLAttributes, { 'data-block': name }, attributes), ...content] as unknown as [
        string,
      ]
    },
  })

/** A block that contains others. */
const box = (name: string, content: string, classes: string, label?: (more: Attributes) => string) =>
  Node.create({
    name,
    group: name === 'column' ? '' : 'block',
    content,
    defining: true,
    isolating: name === 'column',
    draggable: name !== 'column',
    addAttributes: () => bag,
    parseHTML: () => [{ tag: `[data-block="${name}"]` }],
    renderHTML({ node, HTMLAttributes }) {
      const said = label ? { 'data-label': label(moreOf(node.attrs)) } : {}
      return ['div', mergeAttributes(HTMLAttributes, { 'data-block': name, class: classes, ...said }), 0]
    },
  })

const button = atom({
  name: 'button',
  render: (more) => {
    const color = colour(more.buttonColor, '#000000')
    const isOutline = more.variant === 'outline'
    const radius = { sharp: 0, smooth: 6, round: 999 }[text(more.borderRadius, 'smooth')] ?? 6
    const style = `border:2px solid ${color};border-radius:${radius}px;color:${colour(more.textColor, '#ffffff')};background:${isOutline ? 'transparent' : color}`
    return [
      'div',
      { class: `my-2 flex ${alignmentOf(more.alignment)}` },
      [
        'span',
        { class: 'inline-block px-6 py-1.5 text-base font-semibold', style },
        shownText(more.text, more.isTextVariable) || 'Button',
      ],
    ]
  },
})

const picture = (name: string, empty: string, height?: number) =>
  atom({
    name,
    render: (more) => {
      const src = shownText(more.src, more.isSrcVariable)
      const isShown = /^(https?:|data:image\/)/.test(src) && !src.includes('{{')
      const style = `${more.width ? `width:${pixels(more.width, 300)}px;` : ''}${height ? `height:${height}px;` : ''}border-radius:${pixels(more.borderRadius, 0)}px`
      return [
        'div',
        { class: `my-2 flex ${alignmentOf(more.alignment, name === 'image' ? 'center' : 'left')}` },
        isShown
          ? ['img', { src, alt: text(more.alt), class: 'block max-w-full', style }]
          : ['span', { class: placeholderClass }, src || empty],
      ]
    },
  })

const placeholderClass =
  'inline-flex min-h-16 max-w-full items-center justify-center truncate rounded-control border border-dashed border-line-strong bg-sunken px-6 text-xs text-muted'

const inlineImage = atom({
  name: 'inlineImage',
  isInline: true,
  render: (more) => ['span', { class: 'rounded-sm bg-sunken px-1 text-xs text-muted' }, text(more.alt, 'picture')],
})

const spacer = atom({
  name: 'spacer',
  render: (more) => [
    'div',
    {
      class:
        'my-1 grid place-items-center rounded-sm bg-[repeating-linear-gradient(135deg,var(--line)_0_1px,transparent_1px_6px)] text-2xs text-muted',
      style: `height:${Math.max(8, pixels(more.height, 8))}px`,
    },
  ],
})

const linkCard = atom({
  name: 'linkCard',
  render: (more) => [
    'div',
    { class: 'my-2 rounded-surface border p-3' },
    ['p', { class: 'text-base font-semibold' }, text(more.title, 'Title')],
    ['p', { class: 'text-sm text-muted' }, text(more.description, 'Description')],
    ['p', { class: 'text-sm underline' }, text(more.linkTitle, shownText(more.link, more.isLinkVariable) || 'Link')],
  ],
})

const variable = atom({
  name: 'variable',
  isInline: true,
  render: (more) => [
    'span',
    {
      class:
        'rounded-sm bg-accent/12 px-1 py-px font-mono text-code whitespace-nowrap text-[color-mix(in_oklab,var(--accent)_80%,var(--ink))]',
    },
    text(more.aliasFor, text(more.id, 'variable')) + (text(more.fallback) ? ` | ${text(more.fallback)}` : ''),
  ],
})

const htmlCodeBlock = Node.create({
  name: 'htmlCodeBlock',
  group: 'block',
  content: 'inline*',
  marks: '',
  code: true,
  defining: true,
  addAttributes: () => bag,
  parseHTML: () => [{ tag: '[data-block="htmlCodeBlock"]', preserveWhitespace: 'full' as const }],
  renderHTML: ({ HTMLAttributes }) => [
    'pre',
    mergeAttributes(HTMLAttributes, {
      'data-block': 'htmlCodeBlock',
      'data-label': 'HTML',
      class: `${boxClass} overflow-x-auto bg-sunken font-mono text-code whitespace-pre-wrap`,
    }),
    0,
  ],
})

const footer = Node.create({
  name: 'footer',
  group: 'block',
  content: 'inline*',
  defining: true,
  addAttributes: () => bag,
  parseHTML: () => [{ tag: '[data-block="footer"]' }],
  renderHTML: ({ node, HTMLAttributes }) => [
    'p',
    mergeAttributes(HTMLAttributes, {
      'data-block': 'footer',
      class: 'text-sm text-muted',
      style: `text-align:${text(moreOf(node.attrs).textAlign, 'left')}`,
    }),
    0,
  ],
})

const boxClass =
  'relative my-2 rounded-surface border border-dashed border-line-strong px-3 pt-5 pb-2 before:pointer-events-none before:absolute before:top-0.5 before:left-2 before:font-sans before:text-2xs before:text-muted before:content-[attr(data-label)]'

/** An unknown block: kept as it is, and labelled. */
const sealed = (name: string, isInline: boolean) =>
  Node.create({
    name,
    group: isInline ? 'inline' : 'block',
    inline: isInline,
    atom: true,
    draggable: true,
    addAttributes: () => ({
      json: {
        default: '{}',
        parseHTML: (element: HTMLElement) => element.dataset.json ?? '{}',
        renderHTML: (attributes: Attributes) => ({ 'data-json': attributes.json }),
      },
    }),
    parseHTML: () => [{ tag: `[data-block="${name}"]` }],
    renderHTML: ({ node, HTMLAttributes }) => [
      isInline ? 'span' : 'div',
      mergeAttributes(HTMLAttributes, {
        'data-block': name,
        class: isInline
          ? 'rounded-sm bg-sunken px-1 text-xs text-muted'
          : 'my-2 rounded-control border border-dashed border-line-strong bg-sunken px-3 py-2 text-xs text-muted',
      }),
      isInline
        ? sealedText(node.attrs.json)
        : `Block “${sealedType(node.attrs.json)}”: not editable here, kept unchanged`,
    ],
  })

function unsealed(json: unknown): { type?: unknown; text?: unknown } {
  try {
    return JSON.parse(String(json)) as { type?: unknown; text?: unknown }
  } catch {
    return {}
  }
}
const sealedType = (json: unknown) => text(unsealed(json).type, 'unknown')
const sealedText = (json: unknown) => text(unsealed(json).text, sealedType(json))

const link = Mark.create({
  name: 'link',
  inclusive: false,
  addAttributes: () => bag,
  parseHTML: () => [
    {
      tag: 'a[href]',
      getAttrs: (element) =>
        element.dataset.more ? null : { more: { href: element.getAttribute('href') ?? '', target: '_blank' } },
    },
  ],
  renderHTML: ({ mark, HTMLAttributes }) => [
    'a',
    mergeAttributes(HTMLAttributes, {
      class: 'font-medium underline underline-offset-2',
      title: shownText(moreOf(mark.attrs).href, moreOf(mark.attrs).isUrlVariable),
    }),
    0,
  ],
})

const textStyle = Mark.create({
  name: 'textStyle',
  addAttributes: () => bag,
  parseHTML: () => [{ tag: 'span[data-more]', consuming: false }],
  renderHTML: ({ mark, HTMLAttributes }) => [
    'span',
    mergeAttributes(HTMLAttributes, { style: `color:${colour(moreOf(mark.attrs).color, 'inherit')}` }),
    0,
  ],
})

/** Adds `more` to the nodes and marks of the starter kit, and renders its styles. */
const bags = Extension.create({
  name: 'bags',
  addGlobalAttributes: () => [
    {
      types: [
        'paragraph',
        'heading',
        'bulletList',
        'orderedList',
        'listItem',
        'blockquote',
        'horizontalRule',
        'hardBreak',
      ],
      attributes: {
        more: {
          ...bag.more,
          renderHTML: (attributes: Attributes) => {
            const align = text(moreOf(attributes).textAlign)
            return {
              ...bag.more.renderHTML(attributes),
              ...(/^(left|center|right|justify)$/.test(align) ? { style: `text-align:${align}` } : {}),
            }
          },
        },
      },
    },
    { types: ['bold', 'italic', 'underline', 'strike', 'code'], attributes: bag },
  ],
})

export interface BlockIssues {
  /** Invalid variable paths. */
  wrong: readonly string[]
}

export const issuesKey = new PluginKey<DecorationSet>('issues')

interface VariableOptions {
  onAsk: () => void
  /** "/" was typed where a word could begin. */
  onSlash: () => void
  issues: () => BlockIssues
}

/** Typing `{{path}}` creates a chip; `{{` alone opens the picker. Chips with invalid paths are marked. */
const variables = Extension.create<VariableOptions>({
  name: 'variables',
  addOptions: () => ({ onAsk: () => undefined, onSlash: () => undefined, issues: () => ({ wrong: [] }) }),
  addInputRules() {
    return [
      new InputRule({
        find: /\{\{\s*([\w.[\]'-]+)\s*\}\}$/,
        handler: ({ state, range, match }) => {
          const node = state.schema.nodes.variable?.create({ more: { id: match[1] } })
          if (node) state.tr.replaceWith(range.from, range.to, node)
        },
      }),
      new InputRule({
        find: /\{\{$/,
        handler: ({ state, range }) => {
          const { $from } = state.selection
          if ($from.parent.type.spec.code) return
          state.tr.delete(range.from, range.to)
          setTimeout(() => this.options.onAsk())
        },
      }),
      new InputRule({
        find: /(?:^|\s)\/$/,
        handler: ({ state }) => {
          // It changes nothing, so the slash is written like any other character.
          if (!state.selection.$from.parent.type.spec.code) setTimeout(() => this.options.onSlash())
        },
      }),
    ]
  },
  addProseMirrorPlugins() {
    const { issues } = this.options
    return [
      new Plugin({
        key: issuesKey,
        props: {
          decorations: (state) => {
            const { wrong } = issues()
            if (wrong.length === 0) return null
            const found: Decoration[] = []
            state.doc.descendants((node, position) => {
              if (node.type.name !== 'variable') return
              const { id, aliasFor } = moreOf(node.attrs)
              const path = text(aliasFor, text(id))
              if (!wrong.some((one) => path === one || path.startsWith(`${one}.`) || path.startsWith(`${one} `))) return
              const look = { class: '!bg-bad/12 !text-bad underline decoration-wavy underline-offset-2' }
              found.push(Decoration.node(position, position + node.nodeSize, look))
            })
            return DecorationSet.create(state.doc, found)
          },
        },
      }),
    ]
  },
})

/** Swaps the outermost block around the cursor with its neighbour. */
function moveBlock(editor: Editor, by: 1 | -1): boolean {
  const { state, view } = editor
  const { $from } = state.selection
  const index = $from.index(0)
  const other = state.doc.maybeChild(index + by)
  const node = state.doc.maybeChild(index)
  if (!node || !other) return true
  const from = $from.depth === 0 ? state.selection.from : $from.before(1)
  const to = by === 1 ? from + other.nodeSize : from - other.nodeSize
  const transaction = state.tr.delete(from, from + node.nodeSize).insert(to, node)
  const offset = state.selection.from - from
  transaction.setSelection(
    state.selection instanceof NodeSelection && $from.depth === 0
      ? NodeSelection.create(transaction.doc, to)
      : Selection.near(transaction.doc.resolve(to + offset)),
  )
  view.dispatch(transaction.scrollIntoView())
  return true
}

/** Adds an empty line at the end, unless there is one, and goes there. */
function goBelow({ state, view }: Editor): boolean {
  const { doc, schema } = state
  const { lastChild } = doc
  const paragraph = schema.nodes.paragraph?.create()
  if (!paragraph) return false
  const hasLine = lastChild?.type.name === 'paragraph' && lastChild.content.size === 0
  const transaction = hasLine ? state.tr : state.tr.insert(doc.content.size, paragraph)
  transaction.setSelection(Selection.atEnd(transaction.doc))
  view.dispatch(transaction.scrollIntoView())
  view.focus()
  return true
}

/** Whether the last block is one that the cursor cannot leave downwards: a box, a picture, a button. */
const endsInBox = ({ lastChild }: ProseMirrorNode) => lastChild !== null && !lastChild.isTextblock

/** Blocks are moved by keyboard, and the end of the document can be reached below a box or picture. */
const ways = Extension.create({
  name: 'ways',
  addKeyboardShortcuts() {
    return {
      'Alt-ArrowUp': ({ editor }) => moveBlock(editor, -1),
      'Alt-ArrowDown': ({ editor }) => moveBlock(editor, 1),
      'Mod-Enter': ({ editor }) => goBelow(editor),
      ArrowDown: ({ editor }) => {
        const { state, view } = editor
        const { selection, doc } = state
        const { $to } = selection
        // Nothing but the ends of boxes comes behind it.
        const isLast = ($to.parent.isTextblock ? $to.end() : selection.to) + $to.depth >= doc.content.size
        const isOnLastLine = !$to.parent.isTextblock || view.endOfTextblock('down')
        return isLast && isOnLastLine && endsInBox(doc) ? goBelow(editor) : false
      },
    }
  },
  addProseMirrorPlugins() {
    const { editor } = this
    return [
      new Plugin({
        props: {
          handleDOMEvents: {
            mousedown: (view, event) => {
              const last = view.dom.lastElementChild
              if (!editor.isEditable || event.target !== view.dom || !last || !endsInBox(view.state.doc)) return false
              if (event.clientY <= last.getBoundingClientRect().bottom) return false
              event.preventDefault()
              return goBelow(editor)
            },
          },
        },
      }),
    ]
  },
})

export const extensionsWith = (options: VariableOptions) => [
  StarterKit.configure({ heading: { levels: [1, 2, 3] }, codeBlock: false, link: false, trailingNode: false }),
  bags,
  link,
  textStyle,
  variable,
  inlineImage,
  button,
  picture('image', 'Picture: add its address'),
  picture('logo', 'Logo: add its address', 40),
  spacer,
  linkCard,
  footer,
  htmlCodeBlock,
  box('section', 'block+', boxClass, () => 'Section'),
  box('columns', 'column+', 'my-2 flex gap-2'),
  box('column', 'block+', `${boxClass} my-0 min-w-0 flex-1`, () => 'Column'),
  box('repeat', 'block+', `${boxClass} border-accent/40`, (more) => `Repeat for each of ${text(more.each, '…')}`),
  box('for', 'block+', `${boxClass} border-accent/40`, (more) => `Repeat for each of ${text(more.each, '…')}`),
  sealed('unknownBlock', false),
  sealed('unknownInline', true),
  variables.configure(options),
  ways,
]
