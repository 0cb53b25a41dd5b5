// The texts of Knock's channel steps.
import { filled, type Json, type Members } from '../members.ts'
import { type Around, blocksToHtml, markdownToHtml, toLiquid } from './texts.ts'

export type ChannelType = 'email' | 'sms' | 'push' | 'chat' | 'in_app'

export const channelTypes: Record<string, ChannelType | undefined> = {
  ...{ email: 'email', sms: 'sms', push: 'push', chat: 'chat', in_app: 'in_app' },
  ...{ in_app_feed: 'in_app', in_app_guide: undefined },
}

/** What a message step says. Members that it leaves are listed by the caller. */
export function contentOf(type: ChannelType, template: Members, around: Around): Json {
  const text = (name: string) => {
    const given = template.text(name)
    return given === undefined ? undefined : toLiquid(given, around)
  }
  switch (type) {
    case 'email':
      return emailOf(template, text, around)
    case 'in_app':
      return inAppOf(template, text, around)
    case 'push': {
      const settings = template.members('settings')
      settings.unmapped('payload_overrides', 'no_equivalent', 'a trigger can override what a provider gets')
      settings.end()
      return filled({ subject: text('title'), body: text('text_body') })
    }
    default:
      template.unmapped('json_body', 'no_equivalent', 'blocks of a chat service are no text')
      template.unmapped('settings', 'no_equivalent', 'it is of the provider')
      template.unmapped('summary', 'no_equivalent', 'it is of the provider')
      return filled({ body: text('markdown_body') ?? text('text_body') })
  }
}

type Text = (name: string) => string | undefined

/** The first of blocks, Markdown and HTML that there is; others are listed. */
function emailOf(template: Members, text: Text, around: Around): Json {
  const settings = template.members('settings')
  const layout = settings.text('layout_key')
  settings.unmapped('attachment_key', 'no_equivalent', 'a trigger has its files in attachments')
  settings.unmapped('pre_content', 'no_equivalent', 'put it into the layout')
  settings.end()
  const markdown = template.has('visual_blocks') ? undefined : template.text('markdown_body')
  const body = template.has('visual_blocks')
    ? toLiquid(blocksToHtml(template.each('visual_blocks')), around)
    : markdown
      ? toLiquid(markdownToHtml(markdown), around)
      : text('html_body')
  template.unmapped('text_body', 'no_equivalent', 'the text part is made from the HTML')
  return { ...filled({ subject: text('subject'), editorType: 'html', body }), layoutId: layout ?? null }
}

function inAppOf(template: Members, text: Text, around: Around): Json {
  const url = text('action_url')
  const [primary, secondary, ...others] = template.each('action_buttons')
  const button = (members: Members | undefined): Json | undefined => {
    const label = members?.text('label')
    const action = members?.text('action')
    members?.end('a button has a label and an address')
    if (label === undefined) return undefined
    return { label: toLiquid(label, around), ...(action ? { redirect: { url: toLiquid(action, around) } } : {}) }
  }
  for (const [index] of others.entries())
    template.lists(`action_buttons.${index + 2}`, 'no_equivalent', 'a message has two buttons')
  return filled({
    subject: text('title'),
    body: text('markdown_body') ?? text('text_body'),
    redirect: url ? { url } : undefined,
    primaryAction: button(primary),
    secondaryAction: button(secondary),
  })
}
