// The pages behind links: made on the server, one form. They work with JavaScript off, and in 360 pixels.
import { escapeUTF8 } from 'entities'
import { type ConsentLanguage, consentTexts } from '../../render/consent-texts.ts'

export interface PageBrand {
  name: string | null
  logoUrl: string | null
  /** `#rrggbb` */
  primaryColor: string | null
  postalAddress: string | null
}

/** Before, after, taken back; and for the links of a preview, which do nothing. */
export type PageState = 'question' | 'done' | 'undone' | 'preview'

interface Shown {
  state: PageState
  brand: PageBrand
  language: ConsentLanguage
}

export const usualColor = '#1f4fd8'

export function unsubscribePage({ state, brand, language }: Shown): string {
  const texts = consentTexts[language]
  const isPreview = state === 'preview'
  const words = isPreview ? texts.question : texts[state]
  const button = (name: string, label: string, kind = '') =>
    `<form method="post"><button name="${name}" value="1" type="submit"${kind}${isPreview ? ' disabled' : ''}>${escapeUTF8(label)}</button></form>`
  const action =
    state === 'done'
      ? button('undo', texts.undo, ' class="quiet"')
      : state === 'undone'
        ? ''
        : button('confirm', texts.unsubscribe)
  const said =
    state === 'question' || isPreview ? `<p>${escapeUTF8(words)}</p>` : `<p role="status">${escapeUTF8(words)}</p>`
  const content = `${logoOf(brand)}
<h1>${escapeUTF8(brand.name ?? texts.unsubscribe)}</h1>
${said}
${action}
${addressOf(brand)}`
  const title = brand.name === null ? texts.unsubscribe : `${texts.unsubscribe} – ${brand.name}`
  return whole({ title, content, language, color: brand.primaryColor ?? usualColor })
}

export const logoOf = ({ logoUrl, name }: PageBrand): string =>
  logoUrl === null ? '' : `<img src="${escapeUTF8(logoUrl)}" alt="${escapeUTF8(name ?? '')}">`

export const nameOf = ({ name }: PageBrand): string => (name === null ? '' : `<p class="brand">${escapeUTF8(name)}</p>`)

export const addressOf = ({ postalAddress }: PageBrand): string =>
  postalAddress === null ? '' : `<address>${escapeUTF8(postalAddress)}</address>`

/** For a link that leads nowhere. */
export const messagePage = (words: string, language: ConsentLanguage): string =>
  whole({ title: words, content: `<h1>${escapeUTF8(words)}</h1>`, language, color: usualColor })

/** A page with this content. @param head what else the head has */
export function whole({
  title,
  content,
  language,
  color,
  head = '',
}: {
  title: string
  content: string
  language: ConsentLanguage
  color: string
  head?: string
}): string {
  return `<!doctype html>
<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeUTF8(title)}</title>${head}
<style>
:root { color-scheme: light dark; --text: #1c1c1c; --muted: #595959; --around: #f5f5f5; --page: ${pageColors.light}; --line: #e0e0e0; --edge: #767676; --good: #eaf5ea }
@media (prefers-color-scheme: dark) {
  :root { --text: #f4f4f5; --muted: #a1a1aa; --around: #0c0c0e; --page: ${pageColors.dark}; --line: #2a2a30; --edge: #8b8b94; --good: #16301d }
  img { padding: 6px; border-radius: 6px; background: #fff }
}
belfry-preferences { display: block; margin: 0 -16px }
${elementColors(color)}
body { margin: 0; padding: 24px 16px; font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--around) }
main { max-width: 480px; margin: 0 auto; padding: 24px; background: var(--page); border-radius: 8px }
h1 { font-size: 22px; line-height: 1.3; margin: 0 0 12px }
/* What the customer wrote keeps its own direction, also on a page from right to left. */
h1, legend, address, .text, .brand, .choice > :first-child, form.answers label { unicode-bidi: plaintext; text-align: -webkit-match-parent; text-align: match-parent }
button { unicode-bidi: plaintext }
img { max-width: 160px; max-height: 48px; margin-bottom: 16px; color: #1c1c1c }
.brand { margin: 0 0 4px; font-weight: 600; color: var(--muted) }
button { min-height: 44px; padding: 8px 20px; font: inherit; font-weight: 600; border: 2px solid ${color}; border-radius: 6px; background: ${color}; color: ${textOn(color)}; cursor: pointer }
.text { white-space: pre-line; overflow-wrap: anywhere }
form.answers { display: flex; flex-wrap: wrap; gap: 12px; margin-top: 16px }
form.answers label { flex-basis: 100%; font-weight: 600 }
textarea { flex-basis: 100%; box-sizing: border-box; width: 100%; min-height: 88px; padding: 8px; font: inherit; border: 1px solid var(--edge); border-radius: 6px; color: inherit; background: var(--page) }
button.quiet { background: var(--page); color: var(--text); border-color: var(--edge) }
button:focus-visible { outline: 3px solid var(--text); outline-offset: 2px }
fieldset { border: 0; margin: 0 0 16px; padding: 0 }
legend, h2 { font-size: 16px; font-weight: 600; margin: 24px 0 8px; padding: 0 }
.choice { display: flex; flex-wrap: wrap; gap: 4px 16px; padding: 8px 0; border-top: 1px solid var(--line) }
.choice > :first-child { flex: 1 1 100% }
.choice label { display: inline-flex; align-items: center; gap: 8px; min-height: 32px }
.choice input { width: 24px; height: 24px; margin: 0; accent-color: ${color} }
input:focus-visible { outline: 3px solid var(--text); outline-offset: 2px }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
ul { list-style: none; margin: 0; padding: 0 }
.buttons { display: flex; flex-wrap: wrap; gap: 8px }
.status { padding: 8px 12px; background: var(--good); border-radius: 6px }
address { margin-top: 24px; font-size: 14px; font-style: normal; color: var(--muted); white-space: pre-line }
</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`
}

/** Behind the text; those of the inbox element, which stands on it. */
const pageColors = { light: '#ffffff', dark: '#141417' }

/** The element takes the brand's colour where its words and switches can be read in it; else it keeps its own. */
function elementColors(color: string): string {
  const rule = `belfry-preferences { --belfry-color-primary: ${color}; --belfry-color-primary-foreground: ${textOn(color)} }`
  const isReadable = (on: string) => contrast(color, on) >= 4.5
  return [
    isReadable(pageColors.light) ? `@media (prefers-color-scheme: light) { ${rule} }` : '',
    isReadable(pageColors.dark) ? `@media (prefers-color-scheme: dark) { ${rule} }` : '',
  ]
    .filter(Boolean)
    .join('\n')
}

/** Black or white, whichever has more contrast. */
export function textOn(color: string): '#000000' | '#ffffff' {
  return contrast(color, '#000000') >= contrast(color, '#ffffff') ? '#000000' : '#ffffff'
}

/** As WCAG 2.2 has it. */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
