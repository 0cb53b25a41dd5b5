// The footer of commercial mail: who sends it, where they are, and how to unsubscribe.
import { escapeUTF8 } from 'entities'
import { beforeBodyEnd } from './html-tokens.ts'

interface Linked {
  words: string
  url: string
}

export interface Footer {
  name: string | null
  postalAddress: string | null
  unsubscribe: Linked
  preferences: Linked
}

const style = 'margin:24px 0 0;font-family:sans-serif;font-size:12px;line-height:1.5;color:#595959;text-align:center'

/** Before the end of the body. */
export function withFooter(html: string, footer: Footer): string {
  const lines = [
    ...senderLines(footer).map((line) => escapeUTF8(line)),
    linksOf(footer)
      .map(({ words, url }) => `<a href="${escapeUTF8(url)}" style="color:#595959">${escapeUTF8(words)}</a>`)
      .join(' · '),
  ]
  const block = `<p style="${style}">${lines.join('<br>')}</p>`
  return beforeBodyEnd(html, block)
}

export const footerText = (footer: Footer): string =>
  ['', '-- ', ...senderLines(footer), ...linksOf(footer).map(({ words, url }) => `${words}: ${url}`)].join('\n')

const linksOf = ({ unsubscribe, preferences }: Footer): Linked[] => [unsubscribe, preferences]

const senderLines = ({ name, postalAddress }: Footer): string[] =>
  [name, ...(postalAddress?.split(/\r?\n/) ?? [])].filter((line) => line !== null && line.trim() !== '') as string[]
