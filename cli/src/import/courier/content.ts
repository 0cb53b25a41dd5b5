// The content of Courier's templates, Elemental or of its designer, as one step for each channel.
import type { Definition } from '../../folder/source.ts'
import { filled, type Members } from '../members.ts'

export type Channel = 'email' | 'sms' | 'push' | 'chat' | 'in_app'
export const channelNames: Record<string, Channel | undefined> = {
  ...{ email: 'email', sms: 'sms', push: 'push', direct_message: 'chat', chat: 'chat', slack: 'chat', msteams: 'chat' },
  ...{ inbox: 'in_app', in_app: 'in_app', inapp: 'in_app', banner: 'in_app', web: 'in_app' },
}

/** Fields of a profile that subscribers have too; everything else is in their data. */
export const ofProfiles: Record<string, string> = {
  ...{ email: 'email', phone_number: 'phone', given_name: 'firstName', family_name: 'lastName', picture: 'avatar' },
  ...{ locale: 'locale', zoneinfo: 'timezone', user_id: 'subscriberId', id: 'subscriberId' },
}

/** `{name}` in the designer, `{{name}}` in Elemental; the data stands at the root, the recipient under `profile`. */
export function toLiquid(text: string): string {
  return text.replaceAll(
    /\{\{\s*([\w.$-]+)\s*\}\}|\{([A-Za-z_][\w.-]*)\}/g,
    (_, double: string | undefined, single: string | undefined) => {
      const name = (double ?? single ?? '').replace(/^\$\./, '')
      if (name === 'content') return '{{content}}'
      const own = name.match(/^profile\.(.+)$/)?.[1]
      if (own) return `{{subscriber.${ofProfiles[own] ?? `data.${own}`}}}`
      return `{{payload.${name.replace(/^data\./, '')}}}`
    },
  )
}

interface Part {
  html: string
  text: string
}

function stepFor(channel: Channel, title: string | undefined, parts: Part[]): Definition {
  const name = { email: 'Email', sms: 'SMS', push: 'Push', chat: 'Chat', in_app: 'In-app' }[channel]
  const html = parts.map((part) => part.html).join('\n')
  const text = parts
    .map((part) => part.text)
    .filter((part) => part !== '')
    .join('\n')
  const subject = title === undefined ? undefined : toLiquid(title)
  const values =
    channel === 'email'
      ? filled({ subject, editorType: 'html', body: html })
      : channel === 'push' || channel === 'in_app'
        ? filled({ subject, body: text })
        : filled({ body: text })
  return { stepId: channel.replace('_', '-'), name, type: channel, controlValues: values }
}

/** A workflow has one step for a channel; others are listed. */
function channelOf(said: string, seen: Set<Channel>, members: Members): Channel | undefined {
  const type = channelNames[said]
  const isNew = type !== undefined && !seen.has(type)
  if (!isNew) {
    members.lists(said, 'no_equivalent', type ? 'a workflow has one step for this channel' : 'there is no such channel')
    return undefined
  }
  seen.add(type)
  return type
}

const inOtherLanguages = 'write translations of the workflow'

/** Elemental: a list of elements, for all channels or inside one of them. */
export function elementalSteps(content: Members): Definition[] {
  const all = content.each('elements').map((members) => ({ members, type: members.text('type') }))
  const common = partsOf(all.filter(({ type }) => type !== 'channel'))
  const own = all.filter(({ type }) => type === 'channel')
  if (own.length === 0) return [stepFor('email', common.title, common.parts)]
  const seen = new Set<Channel>()
  return own.flatMap(({ members }) => {
    const said = members.text('channel') ?? ''
    const type = channelOf(said, seen, members)
    if (!type) {
      for (const name of members.rest()) members.take(name)
      return []
    }
    conditionsOf(members)
    members.unmapped('raw', 'no_equivalent', 'it is of the provider')
    const inner = partsOf(members.each('elements').map((each) => ({ members: each, type: each.text('type') })))
    members.end()
    return [stepFor(type, inner.title ?? common.title, [...common.parts, ...inner.parts])]
  })
}

function partsOf(elements: Array<{ members: Members; type: string | undefined }>): {
  title: string | undefined
  parts: Part[]
} {
  let title: string | undefined
  const parts = elements.flatMap(({ members, type }) => {
    if (type !== 'meta') return [elementOf(members, type)]
    title = members.text('title') ?? title
    conditionsOf(members)
    members.end()
    return []
  })
  return { title, parts }
}

function conditionsOf(element: Members): void {
  for (const name of ['if', 'loop', 'ref', 'channels'])
    element.unmapped(name, 'no_equivalent', 'a part of a text has no condition of its own')
  element.unmapped('locales', 'no_equivalent', inOtherLanguages)
}

const headings: Record<string, string | undefined> = { text: 'p', subtext: 'small', h1: 'h1', h2: 'h2', h3: 'h3' }

/** `align` is kept as a style; what else an element says of its looks is listed. */
function elementOf(element: Members, type: string | undefined): Part {
  conditionsOf(element)
  const part = partOf(element, type)
  element.end('the HTML has no such style')
  return part
}

function partOf(element: Members, type: string | undefined): Part {
  const content = () => toLiquid(element.text('content') ?? '')
  const style = () => {
    const align = element.text('align')
    return align === undefined ? '' : ` style="text-align: ${align === 'full' ? 'justify' : align}"`
  }
  const tagOf = (usual: string) => {
    const said = element.text('text_style')
    const tag = said === undefined ? usual : headings[said]
    if (tag === undefined) element.lists('text_style', 'no_equivalent', `there is no style "${said}"`)
    return tag ?? usual
  }
  switch (type) {
    case 'text': {
      const [tag, text] = [tagOf('p'), content()]
      return { html: `<${tag}${style()}>${text}</${tag}>`, text }
    }
    case 'action': {
      const [text, href] = [content(), toLiquid(element.text('href') ?? '')]
      element.renewed(['action_id'], 'it is for counting clicks there')
      return { html: `<p${style()}><a href="${href}">${text}</a></p>`, text: `${text}: ${href}` }
    }
    case 'image': {
      const alt = toLiquid(element.text('alt_text') ?? element.text('altText') ?? '')
      const image = `<img src="${toLiquid(element.text('src') ?? '')}" alt="${alt}">`
      const link = element.text('href')
      return { html: `<p${style()}>${link ? `<a href="${toLiquid(link)}">${image}</a>` : image}</p>`, text: '' }
    }
    case 'divider':
      return { html: '<hr>', text: '' }
    case 'quote': {
      const text = content()
      return { html: `<blockquote${style()}>${text}</blockquote>`, text }
    }
    case 'html':
      return { html: content(), text: '' }
    case 'group': {
      const inner = element.each('elements').map((each) => elementOf(each, each.text('type')))
      return { html: inner.map(({ html }) => html).join('\n'), text: inner.map(({ text }) => text).join('\n') }
    }
    default:
      element.lists('type', 'no_equivalent', `there is no element "${type ?? ''}"`)
      return { html: '', text: '' }
  }
}

/** The designer: blocks, and channels that use them, with a subject or title. */
export function designerSteps(content: Members): Definition[] {
  const blocks = content.each('blocks').map((block) => ({ id: block.take('id'), part: blockOf(block) }))
  const seen = new Set<Channel>()
  return content.each('channels').flatMap((channel) => {
    const id = channel.text('id')
    const type = channelOf(channel.text('type') ?? id ?? '', seen, channel)
    if (!type) {
      for (const name of channel.rest()) channel.take(name)
      return []
    }
    const own = channel.members('content')
    const title = own.text('subject') ?? own.text('title')
    own.end('a step has a subject and a text')
    const used = channel.take('block_ids')
    if (!Array.isArray(used)) channel.unmapped('block_ids', 'not_list', 'a list was expected')
    channel.unmapped('locales', 'no_equivalent', inOtherLanguages)
    channel.renewed(['checksum'])
    channel.end()
    const shown = Array.isArray(used) ? blocks.filter((block) => used.includes(block.id)) : blocks
    return [
      stepFor(
        type,
        title,
        shown.map(({ part }) => part),
      ),
    ]
  })
}

function blockOf(block: Members): Part {
  const type = block.text('type')
  const given = block.take('content')
  const text = toLiquid(typeof given === 'string' ? given : '')
  if (typeof given !== 'string') block.unmapped('content', 'no_equivalent', 'it has parts')
  block.unmapped('locales', 'no_equivalent', inOtherLanguages)
  block.renewed(['checksum'])
  const part = ((): Part => {
    switch (type) {
      case 'text':
      case 'markdown':
      case 'template':
        return { html: `<p>${text}</p>`, text }
      case 'action':
        return { html: `<p><a href="${toLiquid(block.text('href') ?? '')}">${text}</a></p>`, text }
      case 'line':
      case 'divider':
        return { html: '<hr>', text: '' }
      default:
        block.lists('type', 'no_equivalent', `there is no block "${type ?? ''}"`)
        return { html: '', text: '' }
    }
  })()
  block.end('the HTML has no such style')
  return part
}
