// The branding below an email, unless the organization has removed it.
import { box, FONT, style } from './block-html.ts'

/** @param word the brand, by which the branding can be found in the HTML */
export const brandingOf = (word: string): string =>
  box(
    ` align="center" width="100%" data-${word}-branding=""`,
    ` align="center"${style({ padding: '16px 8px', 'font-size': 12, 'line-height': '16px', color: '#8a8f98' }, FONT)}`,
    ['Sent with Belfry'],
  ).join('')

/** Appended to the visible content, unless it is there: an author may have copied a sent email into the template. */
export function withBranding(html: string, branding: string): string {
  const bare = html.replaceAll(branding, '')
  const end = [...bare.matchAll(/<\/body\s*>/gi)].at(-1)?.index ?? bare.length
  return bare.slice(0, end) + branding + bare.slice(end)
}
