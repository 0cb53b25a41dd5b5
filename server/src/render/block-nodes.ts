// Every kind of block and its HTML.
import {
  alignment,
  attribute,
  box,
  constant,
  cssValue,
  FONT,
  type Html,
  oneOf,
  row,
  rowOfCells,
  sides,
  size,
  style,
  textAlignment,
} from './block-html.ts'
import { withMarks } from './block-marks.ts'
import type { BlockCompiler, BlockNode, Place, RenderNode } from './blocks.ts'
import { prepareHtmlBlock } from './inline-css.ts'

type Attributes = Record<string, unknown>
const attributesOf = (node: BlockNode): Attributes => node.attrs ?? {}

const MARGIN = 10
const marginOf = ({ isFlush }: Place, margin = MARGIN) => (isFlush ? 0 : margin)

const paddings = (attrs: Attributes, all: number, vertical = all) =>
  sides(
    size(attrs.paddingTop, vertical),
    size(attrs.paddingRight, all),
    size(attrs.paddingBottom, vertical),
    size(attrs.paddingLeft, all),
  )

const hasPadding = (attrs: Attributes) =>
  ['paddingTop', 'paddingRight', 'paddingBottom', 'paddingLeft'].some((side) => size(attrs[side]) !== undefined)

/** An empty line would collapse. */
const orSpace = (content: Html): Html => (content.every((part) => part === '') ? ['&nbsp;'] : content)

const paragraph: RenderNode = (node, place, compiler) => {
  const attrs = attributesOf(node)
  const css = style(
    {
      margin: sides(0, 0, place.isInList ? 0 : marginOf(place), 0),
      'font-size': cssValue(attrs.fontSize, '14px'),
      'line-height': '20px',
      'font-weight': '500',
      color: cssValue(attrs.color, '#374151'),
      'text-align': textAlignment(attrs.textAlign),
      background: cssValue(attrs.background),
      border: cssValue(attrs.border),
      'border-radius': cssValue(attrs.borderRadius),
      padding: hasPadding(attrs) ? paddings(attrs, 0) : undefined,
      display: cssValue(attrs.display),
    },
    FONT,
  )
  // A paragraph cannot hold the paragraphs and tables of an email's body.
  const tag = compiler.isLayout && compiler.nodesOf(node).some(isContent) ? 'div' : 'p'
  return [`<${tag}${css}>`, ...orSpace(compiler.children(node, { isBox: false })), `</${tag}>`]
}

const isContent = ({ type, attrs }: BlockNode) => type === 'variable' && attrs?.id === 'content'

const headings = [
  { size: 30, line: 40 },
  { size: 24, line: 30 },
  { size: 18, line: 26 },
]

const heading: RenderNode = (node, place, compiler) => {
  const attrs = attributesOf(node)
  const level = Math.min(Math.max(Math.trunc(Number(attrs.level)) || 1, 1), 3)
  const { size: fontSize, line } = headings[level - 1] ?? { size: 30, line: 40 }
  const css = style(
    {
      margin: sides(0, 0, marginOf(place), 0),
      'font-size': fontSize,
      'line-height': line,
      'font-weight': '600',
      color: '#111827',
      'text-align': textAlignment(attrs.textAlign),
    },
    FONT,
  )
  return [`<h${level}${css}>`, ...orSpace(compiler.children(node, { isBox: false })), `</h${level}>`]
}

const text: RenderNode = (node, _, compiler) => {
  const written = typeof node.text === 'string' ? node.text : ''
  const isBlank = written !== '' && written.trim() === ''
  return withMarks(node, isBlank ? ['&nbsp;'.repeat(written.length)] : compiler.text(written), compiler)
}

const variable: RenderNode = (node, _, compiler) => {
  const { id, aliasFor, fallback } = attributesOf(node)
  const path = typeof aliasFor === 'string' && aliasFor.trim() !== '' ? aliasFor : id
  return withMarks(node, compiler.variable(typeof path === 'string' ? path : '', fallback), compiler)
}

const list =
  (tag: 'ul' | 'ol', marker: string): RenderNode =>
  (node, place, compiler) => [
    `<${tag}${style({
      margin: sides(0, 0, marginOf(place), 0),
      padding: sides(0, 0, 0, 26),
      'list-style-type': marker,
      color: '#374151',
    })}>`,
    ...compiler.children(node, { isBox: false }),
    `</${tag}>`,
  ]

const listItem: RenderNode = (node, _, compiler) => [
  `<li${style({ margin: '0 0 8px', 'font-size': 14, 'line-height': 20 }, FONT)}>`,
  ...compiler.children(node, { isBox: true, isInList: true }),
  '</li>',
]

const blockquote: RenderNode = (node, place, compiler) => [
  `<blockquote${style({
    margin: sides(0, 0, marginOf(place), 0),
    padding: sides(0, 0, 0, 12),
    'border-left': '4px solid #d1d5db',
  })}>`,
  ...compiler.children(node, { isBox: true }),
  '</blockquote>',
]

const horizontalRule: RenderNode = (node) => {
  const attrs = attributesOf(node)
  const margins = sides(
    size(attrs.marginTop, 0),
    size(attrs.marginRight, 0),
    size(attrs.marginBottom, 0),
    size(attrs.marginLeft, 0),
  )
  const rule = `<hr${style({ margin: '0', border: 'none', 'border-top': '1px solid #eaeaea', width: '100%' })}>`
  const inner = box(' width="100%"', style({ padding: paddings(attrs, 0, 10) }), [rule])
  return box(' width="100%"', style({ padding: margins }), inner)
}

const spacer: RenderNode = (node) => {
  const height = size(attributesOf(node).height, 8)
  // Outlook gives an empty cell the height of a line of text unless there is a character of this size in it.
  const css = style({ height, 'line-height': height, 'font-size': 1, 'mso-line-height-rule': 'exactly' })
  return box(' width="100%"', ` height="${height}"${css}`, ['&nbsp;'])
}

const radii = { sharp: 0, smooth: 6, round: 9999 }

/** The cell has colours, border and the padding for Outlook; the link has the padding for all other clients. */
const button: RenderNode = (node, place, compiler) => {
  const attrs = attributesOf(node)
  const color = cssValue(attrs.buttonColor, '#000000')
  const isOutline = attrs.variant === 'outline'
  const padding = sides(
    size(attrs.paddingTop, 10),
    size(attrs.paddingRight, 32),
    size(attrs.paddingBottom, 10),
    size(attrs.paddingLeft, 32),
  )
  const width = attrs.width === '100%' ? '100%' : size(attrs.width)
  const cell = style({
    'background-color': isOutline ? 'transparent' : color,
    border: `2px solid ${color}`,
    'border-radius': radii[oneOf(attrs.borderRadius, ['sharp', 'smooth', 'round'], 'smooth')],
    'mso-padding-alt': padding,
  })
  const link = style(
    {
      display: width === undefined ? 'inline-block' : 'block',
      padding,
      'font-size': 14,
      'line-height': 20,
      'font-weight': '600',
      color: cssValue(attrs.textColor, '#ffffff'),
      'text-decoration': 'none',
      'text-align': 'center',
    },
    FONT,
  )
  const table = `${width === undefined ? '' : ` width="${width}"`}${style({ 'border-collapse': 'separate', width })}`
  const background = isOutline ? '' : constant('bgcolor', color)
  return row(
    alignment(attrs.alignment),
    marginOf(place),
    box(table, ` align="center"${background}${cell}`, [
      '<a',
      ...attribute('href', compiler.textOrVariable(attrs.url, attrs.isUrlVariable)),
      ` target="_blank"${link}>`,
      ...compiler.textOrVariable(attrs.text ?? 'Button', attrs.isTextVariable),
      '</a>',
    ]),
  )
}

function picture(attrs: Attributes, dimensions: string, compiler: BlockCompiler): Html {
  const img: Html = [
    '<img',
    ...attribute('src', compiler.textOrVariable(attrs.src, attrs.isSrcVariable)),
    ...attribute('alt', compiler.text(attrs.alt)),
    ...(attrs.title ? attribute('title', compiler.text(attrs.title)) : []),
    `${dimensions}>`,
  ]
  if (typeof attrs.externalLink !== 'string' || attrs.externalLink === '') return img
  return [
    '<a',
    ...attribute('href', compiler.textOrVariable(attrs.externalLink, attrs.isExternalLinkVariable)),
    ` target="_blank"${style({ 'text-decoration': 'none' })}>`,
    ...img,
    '</a>',
  ]
}

const image: RenderNode = (node, place, compiler) => {
  const attrs = attributesOf(node)
  const width = size(attrs.width)
  const height = attrs.lockAspectRatio === false || width === undefined ? size(attrs.height) : undefined
  const dimensions = `${width === undefined ? '' : ` width="${width}"`}${height === undefined ? '' : ` height="${height}"`}`
  const css = style({
    display: 'block',
    width,
    'max-width': '100%',
    height: height ?? 'auto',
    border: '0',
    outline: 'none',
    'border-radius': size(attrs.borderRadius, 0) || undefined,
  })
  return row(alignment(attrs.alignment, 'center'), marginOf(place), picture(attrs, dimensions + css, compiler))
}

const inlineImage: RenderNode = (node, _, compiler) => {
  const attrs = attributesOf(node)
  const width = size(attrs.width, 20)
  const height = size(attrs.height, 20)
  const css = style({ display: 'inline', width, height, border: '0', 'vertical-align': 'middle' })
  return withMarks(node, picture(attrs, ` width="${width}" height="${height}"${css}`, compiler), compiler)
}

const logoSizes = { sm: 40, md: 48, lg: 64 }

const logo: RenderNode = (node, place, compiler) => {
  const attrs = attributesOf(node)
  const height = logoSizes[oneOf(attrs.size, ['sm', 'md', 'lg'], 'sm')]
  const css = style({ display: 'block', width: 'auto', 'max-width': '100%', height, border: '0' })
  return row(alignment(attrs.alignment), marginOf(place), picture(attrs, ` height="${height}"${css}`, compiler))
}

const section: RenderNode = (node, place, compiler) => {
  const attrs = attributesOf(node)
  const background = cssValue(attrs.backgroundColor, '#ffffff')
  const borderWidth = size(attrs.borderWidth, 0)
  const kind = oneOf(attrs.borderStyle, ['solid', 'dashed', 'dotted', 'double'], 'solid')
  const css = style({
    'background-color': background,
    border: borderWidth > 0 ? `${borderWidth}px ${kind} ${cssValue(attrs.borderColor, '#e2e2e2')}` : '0',
    'border-radius': size(attrs.borderRadius, 6),
    padding: paddings(attrs, 8),
    'text-align': attrs.textAlign === undefined ? undefined : textAlignment(attrs.textAlign),
  })
  const margins = sides(
    size(attrs.marginTop, 0),
    size(attrs.marginRight, 0),
    marginOf(place, size(attrs.marginBottom, MARGIN)),
    size(attrs.marginLeft, 0),
  )
  const cell = ` align="${alignment(attrs.align)}"${constant('bgcolor', background)}${css}`
  const inner = box(
    ` width="100%"${style({ 'border-collapse': 'separate' })}`,
    cell,
    compiler.children(node, { isBox: true }),
  )
  return box(' width="100%"', style({ padding: margins }), inner)
}

/** Columns with a fixed width keep it; the others share the rest. */
function widthsOf(columns: readonly BlockNode[]): number[] {
  const fixed = columns.map((column) => {
    const { width } = attributesOf(column)
    const percent = typeof width === 'string' ? Number.parseFloat(width) : width
    return typeof percent === 'number' && percent > 0 && percent <= 100 ? percent : undefined
  })
  const rest = Math.max(100 - fixed.reduce<number>((sum, width) => sum + (width ?? 0), 0), 0)
  const share = rest / Math.max(fixed.filter((width) => width === undefined).length, 1)
  return fixed.map((width) => Math.round((width ?? share) * 100) / 100)
}

const columns: RenderNode = (node, place, compiler) => {
  const attrs = attributesOf(node)
  const gap = size(attrs.gap, 8) / 2
  const nodes = compiler.nodesOf(node)
  const widths = widthsOf(nodes)
  const cells = nodes.flatMap((column, i): Html => {
    const { verticalAlign } = attributesOf(column)
    const valign = oneOf(verticalAlign, ['top', 'middle', 'bottom'], 'top')
    const padding = sides(0, i < nodes.length - 1 ? gap : 0, 0, i > 0 ? gap : 0)
    const css = style({ width: `${widths[i]}%`, padding, 'vertical-align': valign })
    const content = compiler.node(column, { isFlush: true, isInList: false })
    return [`<td class="column" width="${widths[i]}%" valign="${valign}"${css}>`, ...content, '</td>']
  })
  const table = rowOfCells(` class="columns" width="100%"${style({ 'table-layout': 'fixed' })}`, cells)
  return row('left', marginOf(place, size(attrs.marginBottom, MARGIN)), table)
}

const column: RenderNode = (node, _, compiler) => compiler.children(node, { isBox: true })

const repeat: RenderNode = (node, _, compiler) => {
  const { each, iterations } = attributesOf(node)
  const limit = Math.trunc(Number(iterations)) || 0
  return compiler.repeat(typeof each === 'string' ? each : '', limit, compiler.children(node, { isBox: true }))
}

const htmlCodeBlock: RenderNode = (node, _, compiler) => {
  const source = compiler
    .nodesOf(node)
    .map((part) => (part.type === 'variable' ? variableSource(attributesOf(part)) : (part.text ?? '')))
    .join('')
  return box(' width="100%"', '', compiler.html(prepareHtmlBlock(source)))
}

function variableSource({ id, aliasFor, fallback }: Attributes): string {
  const path = typeof aliasFor === 'string' && aliasFor !== '' ? aliasFor : id
  const otherwise = typeof fallback === 'string' ? fallback.replace(/[\\"]/g, '\\$&') : ''
  return typeof path === 'string' ? `{{ ${path}${otherwise === '' ? '' : ` | default: "${otherwise}"`} }}` : ''
}

const footer: RenderNode = (node, place, compiler) => {
  const css = style(
    {
      margin: sides(0, 0, marginOf(place), 0),
      'font-size': 14,
      'line-height': 24,
      color: '#64748B',
      'text-align': textAlignment(attributesOf(node).textAlign),
    },
    FONT,
  )
  return [`<p${css}>`, ...orSpace(compiler.children(node, { isBox: false })), '</p>']
}

const linkCard: RenderNode = (node, place, compiler) => {
  const attrs = attributesOf(node)
  const href = compiler.textOrVariable(attrs.link, attrs.isLinkVariable)
  const line = (value: unknown, fontSize: number, color: string, weight: string): Html => {
    if (typeof value !== 'string' || value === '') return []
    const css = style(
      { margin: '0 0 4px', 'font-size': fontSize, 'line-height': fontSize + 8, color, 'font-weight': weight },
      FONT,
    )
    return [`<p${css}>`, ...compiler.text(value), '</p>']
  }
  const badge: Html =
    typeof attrs.badgeText === 'string' && attrs.badgeText !== ''
      ? [
          `<span${style({ padding: '2px 8px', 'font-size': 12, color: '#991b1b', 'background-color': '#fee2e2', 'border-radius': 6 }, FONT)}>`,
          ...compiler.text(attrs.badgeText),
          '</span>',
        ]
      : []
  const top: Html =
    typeof attrs.image === 'string' && attrs.image !== ''
      ? [
          '<img',
          ...attribute('src', compiler.text(attrs.image)),
          ...attribute('alt', compiler.text(attrs.title)),
          `${style({ display: 'block', width: '100%', border: '0' })}>`,
        ]
      : []
  const words = box(' width="100%"', style({ padding: '15px' }), [
    ...line(attrs.title, 18, '#111827', '600'),
    ...badge,
    ...line(attrs.subTitle, 12, '#64748B', '500'),
    ...line(attrs.description, 14, '#374151', '500'),
    ...line(attrs.linkTitle, 14, '#111827', '600'),
  ])
  const css = style({ border: '1px solid #eaeaea', 'border-radius': 10 })
  const card = box(` width="100%"${style({ 'border-collapse': 'separate' })}`, css, [
    '<a',
    ...attribute('href', href),
    ` target="_blank"${style({ display: 'block', 'text-decoration': 'none', color: '#111827' })}>`,
    ...top,
    ...words,
    '</a>',
  ])
  return row('left', marginOf(place), card)
}

export const blockNodes: Readonly<Record<string, RenderNode>> = {
  paragraph,
  heading,
  text,
  hardBreak: () => ['<br>'],
  bulletList: list('ul', 'disc'),
  orderedList: list('ol', 'decimal'),
  listItem,
  blockquote,
  horizontalRule,
  spacer,
  button,
  image,
  inlineImage,
  logo,
  section,
  columns,
  column,
  repeat,
  for: repeat,
  variable,
  htmlCodeBlock,
  footer,
  linkCard,
}
