// Marks: the formatting of a piece of text.
import { attribute, constant, cssValue, type Html, style } from './block-html.ts'
import type { BlockCompiler, BlockMark, BlockNode } from './blocks.ts'
import { RenderError } from './limits.ts'

type Wrap = (content: Html, mark: BlockMark, compiler: BlockCompiler) => Html

const element =
  (tag: string, css = ''): Wrap =>
  (content) => [`<${tag}${css}>`, ...content, `</${tag}>`]

const code = style({
  padding: '2px 4px',
  'font-family': 'Menlo,Consolas,monospace',
  'font-size': '0.9em',
  'background-color': '#f3f4f6',
  'border-radius': 4,
})

/** Innermost first. */
const marks: Readonly<Record<string, Wrap>> = {
  code: element('code', code),
  strike: element('s'),
  underline: element('u'),
  bold: element('strong'),
  italic: element('em'),
  textStyle: (content, mark) => {
    const color = cssValue(mark.attrs?.color)
    return color === undefined ? content : [`<span${style({ color })}>`, ...content, '</span>']
  },
  link: (content, mark, compiler) => {
    const { href, isUrlVariable, aliasFor, target, rel } = mark.attrs ?? {}
    const path = isUrlVariable === true && typeof aliasFor === 'string' && aliasFor !== '' ? aliasFor : href
    const where = constant('target', typeof target === 'string' && target !== '' ? target : '_blank')
    const relation = constant('rel', typeof rel === 'string' && rel !== '' ? rel : 'noopener noreferrer nofollow')
    const css = style({ color: '#111827', 'font-weight': '500', 'text-decoration': 'underline' })
    return [
      '<a',
      ...attribute('href', compiler.textOrVariable(path, isUrlVariable)),
      `${where}${relation}${css}>`,
      ...content,
      '</a>',
    ]
  },
}

const order = Object.keys(marks)

export function withMarks(node: BlockNode, content: Html, compiler: BlockCompiler): Html {
  const wanted = Array.isArray(node.marks) ? node.marks : []
  const unknown = wanted.find((mark) => !order.includes(mark?.type))
  if (unknown !== undefined) throw new RenderError('unknown_block', `Unknown text mark "${unknown?.type}"`)
  return wanted
    .toSorted((a, b) => order.indexOf(a.type) - order.indexOf(b.type))
    .reduce((inner, mark) => marks[mark.type]?.(inner, mark, compiler) ?? inner, content)
}
