// Liquid of Knock as Liquid here: other names for the same things, and partials inlined.
import { micromark } from 'micromark'
import type { Members } from '../members.ts'
import type { Report } from '../report.ts'

/** Fields of a recipient that subscribers have too; everything else is in their data. */
const ofRecipients: Record<string, string> = {
  id: 'subscriberId',
  email: 'email',
  phone_number: 'phone',
  avatar: 'avatar',
  locale: 'locale',
  timezone: 'timezone',
}

/** Where a text stands. */
export interface Around {
  report: Report
  kind: 'workflow' | 'layout'
  id: string
  path: string
  /** Content by key. */
  partials: ReadonlyMap<string, string>
  /** The batch step before, whose activities are meant. */
  digestId: string | undefined
}

const outputs = /\{\{-?([^{}]*)-?\}\}|\{%-?([^{}%]*)-?%\}/g
/** A path outside of quotes: `data.order.id`, `recipient["plan"]`. */
const word = /"[^"]*"|'[^']*'|[A-Za-z_][\w]*(?:\.[\w-]+|\[\s*(?:"[^"]*"|'[^']*'|\d+)\s*\])*/g
const keywords = new Set(
  'if unless elsif else endif endunless for endfor in and or not contains assign capture endcapture case when endcase true false nil null empty blank limit offset reversed forloop break continue comment endcomment raw endraw cycle increment decrement'.split(
    ' ',
  ),
)
const listed: Record<string, string> = {
  actors: 'there is no list of actors; go through the events',
  total_actors: 'there is no count of actors; go through the events',
  workflow: 'a template does not know its workflow',
  current_message: 'a template does not know its message',
  run: 'a template does not know its run',
  timestamp: 'use {{ "now" | date }}',
  workspace: 'put it into the payload or a context',
}

export function toLiquid(text: string, around: Around): string {
  const inlined = inlinePartials(text, around, 0)
  /** Names that the template made itself. */
  const own = new Set([...inlined.matchAll(/\{%-?\s*(?:assign|capture|for)\s+(\w+)/g)].map(([, name]) => name))
  const loops = new Set([...inlined.matchAll(/\{%-?\s*for\s+(\w+)\s+in\s+activities\b/g)].map(([, name]) => name))
  return inlined.replaceAll(outputs, (whole) =>
    whole.replaceAll(word, (name, at: number) => {
      if (name.startsWith('"') || name.startsWith("'")) return name
      const before = whole.slice(0, at).trimEnd()
      // The name of a filter, or of an argument to it.
      if (before.endsWith('|') || /^\s*:/.test(whole.slice(at + name.length))) return name
      const [first = ''] = name.split(/[.[]/)
      if (loops.has(first)) return name.replace(`${first}.data.`, `${first}.payload.`)
      if (keywords.has(first) || own.has(first)) return name
      return pathOf(name, around)
    }),
  )
}

/** What a variable is called here. */
export function pathOf(name: string, { report, kind, id, path, digestId }: Around): string {
  const list = (code: string, why: string) => {
    report.unmapped({ kind, id, path, code, why: `${name}: ${why}` })
    return name
  }
  const clean = name.replaceAll(/\[\s*["']([^"']*)["']\s*\]/g, '.$1')
  const [first = '', second = '', ...rest] = clean.split('.')
  const tail = [second, ...rest].filter((part) => part !== '')
  switch (first) {
    case 'data':
      return ['payload', ...tail].join('.')
    case 'vars':
      return ['env', ...tail].join('.')
    case 'recipient':
    case 'actor': {
      const owner = first === 'recipient' ? 'subscriber' : 'actor'
      if (second === '') return owner
      const field = ofRecipients[second]
      return field ? [owner, field, ...rest].join('.') : [owner, 'data', ...tail].join('.')
    }
    case 'tenant':
      return second === 'id'
        ? 'tenant.identifier'
        : second === 'name' || second === ''
          ? clean
          : ['tenant.data', ...tail].join('.')
    case 'activities':
      return digestId === undefined ? list('variable', 'there is no batch before it') : `steps.${digestId}.events`
    case 'total_activities':
      return digestId === undefined ? list('variable', 'there is no batch before it') : `steps.${digestId}.eventCount`
    case 'refs':
      return ['steps', ...tail].join('.')
    case 'content':
      return clean
    default:
      return list('variable', listed[first] ?? 'there is nothing of this name')
  }
}

const deepest = 5
const argument = /([A-Za-z_]\w*)\s*:\s*("[^"]*"|'[^']*'|[^,\s]+)/g

/** `{% render "key", name: value %}` becomes what the partial says, with its values assigned before. */
function inlinePartials(text: string, around: Around, depth: number): string {
  return text.replaceAll(
    /\{%-?\s*render\s+["']([\w-]+)["']\s*,?([^%]*?)-?%\}/g,
    (whole, key: string, values: string) => {
      const { report, kind, id, path } = around
      const list = (why: string) => report.unmapped({ kind, id, path, code: 'partial', why })
      const content = around.partials.get(key)
      if (content === undefined || depth >= deepest) {
        list(content === undefined ? `there is no partial "${key}" in the folder` : `partial "${key}" renders itself`)
        return whole
      }
      const rest = values.replaceAll(argument, '').replaceAll(/[\s,]/g, '')
      if (rest !== '') list(`partial "${key}" is inlined without "${values.trim()}"; only "name: value" is kept`)
      report.changed({
        ...{ kind, id, path, from: `partial ${key}`, to: 'inlined' },
        why: 'there are no partials; its content stands here',
      })
      const assigns = [...values.matchAll(argument)]
        .map(([, name, value]) => `{% assign ${name} = ${value} %}`)
        .join('')
      return assigns + inlinePartials(content, around, depth + 1)
    },
  )
}

/** Blocks of the visual editor as HTML. */
export function blocksToHtml(blocks: Members[]): string {
  return blocks
    .map((block) => {
      const html = blockToHtml(block)
      block.end('the HTML has no such style')
      return html
    })
    .join('\n')
}

function blockToHtml(block: Members): string {
  block.renewed(['id', 'version'])
  const type = block.text('type')
  switch (type) {
    case 'markdown':
      return markdownToHtml(block.text('content') ?? '')
    case 'html':
      return block.text('content') ?? ''
    case 'divider':
      return '<hr>'
    case 'image': {
      const [image, link] = [
        `<img src="${block.text('url') ?? ''}" alt="${block.text('alt') ?? ''}">`,
        block.text('action'),
      ]
      return `<p>${link === undefined ? image : `<a href="${link}">${image}</a>`}</p>`
    }
    case 'button_set':
      return `<p>${block
        .each('buttons')
        .map((button) => {
          const link = `<a href="${button.text('action') ?? ''}">${button.text('label') ?? ''}</a>`
          button.end('the HTML has no such style')
          return link
        })
        .join(' ')}</p>`
    case 'row':
      return block
        .each('columns')
        .map((column) => {
          const inner = blocksToHtml(column.each('blocks'))
          column.end('the HTML has no such style')
          return inner
        })
        .join('\n')
    case 'partial': {
      const attrs = block.members('attrs')
      const values = attrs.rest().map((name) => `, ${name}: ${JSON.stringify(attrs.take(name))}`)
      return `{% render "${block.text('key') ?? ''}"${values.join('')} %}`
    }
    default:
      block.lists('type', 'block', `a block of type "${type ?? ''}" has no equivalent`)
      return ''
  }
}

/** Liquid in it stays as it is: it is no Markdown, so a word stands for it meanwhile. */
export function markdownToHtml(text: string): string {
  const kept: string[] = []
  const hidden = text.replaceAll(/\{\{[^{}]*\}\}|\{%[^{}%]*%\}/g, (liquid) => `qliquidq${kept.push(liquid) - 1}q`)
  const html = micromark(hidden, { allowDangerousHtml: true })
  return html.replaceAll(/qliquidq(\d+)q/g, (_, index: string) => kept[Number(index)] ?? '')
}
