// The mark below an email that says who sent it, unless the organization has it left out.
import { box, FONT, style } from './block-html.ts'

/** @param word the brand's, by which the mark can be found in the HTML */
export const brandingOf = (word: string): string =>
  box(
    ` align="center" width="100%" data-${word}-branding=""`,
    ` align="center"${style({ padding: '16px 8px', 'font-size': 12, 'line-height': '16px', color: '#8a8f98' }, FONT)}`,
    ['Sent with Belfry'],
  ).join('')

/** At the end of what is read. Who copies an email into a template copies the mark with it, and it is not to stand twice. */
export function withBranding(html: string, branding: string): string {
  const bare = html.replaceAll(branding, '')
  const end = [...bare.matchAll(/<\/body\s*>/gi)].at(-1)?.index ?? bare.length
  return bare.slice(0, end) + branding + bare.slice(end)
}
