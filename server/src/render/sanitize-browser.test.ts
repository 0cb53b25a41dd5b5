// Hole 4 of the review, and every relative of it: what a browser makes of sanitized HTML decides, not our own parser.
import { expect, test } from 'vitest'
import { useBrowser } from '../../test/browser.ts'
import { rewrite, sanitize } from './sanitize.ts'

// Of the page, in functions that run there.
declare const document: any
declare const window: any
declare const DOMParser: any
declare const MouseEvent: any
type Element = any

const browser = useBrowser()

/** Fragments that have got through some sanitizer before. `ran()` is what must never be called. */
const hostile = [
  '<style></style/x><img src=x onerror=ran()></style>',
  '<style></style x="><img src=x onerror=ran()>',
  '<style><!--</style><img src=x onerror=ran()>--></style>',
  '<style>a{content:"</style\t/><img src=x onerror=ran()>"}</style>',
  '<style type="text/css"/><img src=x onerror=ran()></style>',
  '<title></title/x><img src=x onerror=ran()></title>',
  '<title><style></title><img src=x onerror=ran()></style>',
  '<style><title></style><img src=x onerror=ran()></title>',
  '<textarea></textarea/x><img src=x onerror=ran()></textarea>',
  '<xmp></xmp/x><img src=x onerror=ran()></xmp>',
  '<iframe></iframe/x><img src=x onerror=ran()></iframe>',
  '<noembed></noembed/x><img src=x onerror=ran()></noembed>',
  '<noframes></noframes/x><img src=x onerror=ran()></noframes>',
  '<noscript></noscript/x><p title="</noscript><img src=x onerror=ran()>"></noscript>',
  '<script></script/x><img src=x onerror=ran()></script>',
  '<script><!--<script></script>--></script><img src=x onerror=ran()>',
  '<plaintext></plaintext><img src=x onerror=ran()>',
  '<svg><style><img src=x onerror=ran()></style></svg>',
  '<svg><title><style></title><img src=x onerror=ran()></style></title></svg>',
  '<math><mtext><table><mglyph><style><img src=x onerror=ran()></style></mglyph></table></mtext></math>',
  '<svg></p><style><a id="</style><img src=x onerror=ran()>">',
  '<table><style></style/x><img src=x onerror=ran()></table>',
  '<p\u00a0title="x onmouseover=ran() y">t</p>',
  '<img\u2028alt="x src=x onerror=ran() y">',
  '<img src=x\u000bonerror=ran()>',
  '<p/title="a"/onclick=ran()>t</p>',
  '<a href="javas&#10;cript&colon;ran()">t</a>',
  '<a href="\u0001javascript:ran()">t</a>',
  '<a href=/x"onclick=ran()//">t</a>',
  '<a href="https://a.b"title=\'><img src=x onerror=ran()>\'>t</a>',
  '<a =x="y" onclick=ran()>t</a>',
  "<a x='\"' onclick=ran() y='\"'>t</a>",
  '<!--><img src=x onerror=ran()>-->',
  '<!--a--!><img src=x onerror=ran()>-->',
  '<![CDATA[<img src=x onerror=ran()>]]>',
  '<?xml <img src=x onerror=ran()>?>',
  '<!doctype html "><img src=x onerror=ran()>">',
  '</style><img src=x onerror=ran()>',
  '</ style><img src=x onerror=ran()>',
  '<meta http-equiv=refresh content="0;url=javascript:ran()">',
  '<link rel=stylesheet href="javascript:ran()">',
  '<body onload=ran()><html onfocus=ran()>',
  '<base href="javascript:ran()//"><a href="x">t</a>',
  '<form action="javascript:ran()"><button formaction="javascript:ran()">b</button></form>',
  '<select><option><style></option></select><img src=x onerror=ran()></style>',
]

const words = [
  ...['<', '>', '/', '"', "'", '=', ' ', '\t', '\f', '\u000b', '\u00a0', '\0', '&', ';', '!', '-', '--', '`', '\\'],
  ...[
    '<style>',
    '</style>',
    '</style/x>',
    '</style ',
    '<title>',
    '</title>',
    '</title/x>',
    '<!--',
    '-->',
    '--!>',
    '<![CDATA[',
  ],
  ...[
    '<script>',
    '</script>',
    '<textarea>',
    '</textarea/x>',
    '<xmp>',
    '<iframe>',
    '</iframe/x>',
    '<noscript>',
    '</noscript>',
  ],
  ...[
    '<noembed>',
    '<noframes>',
    '<plaintext>',
    '<svg>',
    '</svg>',
    '<math>',
    '<mtext>',
    '<table>',
    '<td>',
    '<p>',
    '</p>',
  ],
  ...[
    '<select>',
    '<option>',
    '<template>',
    '<a href="',
    '<img src=x onerror=ran()>',
    ' onerror=ran() ',
    'onclick',
    'href=',
  ],
  ...[
    'javascript:ran()',
    '&colon;',
    '&#58;',
    '&lt;',
    '&gt;',
    '&quot;',
    '&Tab;',
    'x',
    'style',
    'title="',
    "alt='",
    'http-equiv',
  ],
]

/** Fragments with some changes each: something inserted, cut out, said twice, or moved. The same for the same seed. */
function mutated(count: number, seed: number): string[] {
  let state = seed
  const below = (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const pick = (list: readonly string[]) => list[below(list.length)] ?? ''
  const mutate = (html: string) => {
    const begin = below(html.length + 1)
    const end = begin + below(12)
    const [before, piece, after] = [html.slice(0, begin), html.slice(begin, end), html.slice(end)]
    const target = below(html.length)
    const rest = before + after
    const kinds = [before + pick(words) + piece + after, rest, before + piece + piece + after]
    return kinds[below(4)] ?? rest.slice(0, target) + piece + rest.slice(target)
  }
  return Array.from({ length: count }, () => {
    let html = below(3) === 0 ? pick(hostile) + pick(hostile) : pick(hostile)
    for (let left = below(7); left > 0; left--) html = mutate(html)
    return html
  })
}

/** Runs in the browser. @returns what could run, or lead to something that runs, in each document */
function judge(documents: string[]): Array<{ index: number; found: string }> {
  const tags = new Set(
    'address article aside footer header h1 h2 h3 h4 h5 h6 hgroup main nav section blockquote dd div dl dt figcaption figure hr li menu ol p pre ul a abbr b bdi bdo br cite code data dfn em i kbd mark q rb rp rt rtc ruby s samp small span strong sub sup time u var wbr caption col colgroup table tbody td tfoot th thead tr style img html head body link meta title'.split(
      ' ',
    ),
  )
  const urls = new Set('href src cite action formaction data poster background ping longdesc'.split(' '))
  const schemes = new Set(['http:', 'https:', 'ftp:', 'mailto:', 'tel:', 'cid:'])
  const fault = (element: Element): string | undefined => {
    if (element.namespaceURI !== 'http://www.w3.org/1999/xhtml') return `namespace ${element.namespaceURI}`
    if (!tags.has(element.localName)) return `<${element.localName}>`
    for (const { name, value } of element.attributes) {
      if (/^on/i.test(name)) return name
      if (name === 'http-equiv' && /refresh/i.test(value)) return name
      if (
        urls.has(name) &&
        URL.canParse(value, 'https://a.b/') &&
        !schemes.has(new URL(value, 'https://a.b/').protocol)
      )
        return `${name} ${value}`
    }
    return undefined
  }
  const found: Array<{ index: number; found: string }> = []
  const parser = new DOMParser()
  const template = document.createElement('template')
  for (const [index, html] of documents.entries()) {
    template.innerHTML = html
    for (const root of [parser.parseFromString(html, 'text/html'), template.content])
      for (const element of root.querySelectorAll('*')) {
        const problem = fault(element)
        if (problem !== undefined) found.push({ index, found: problem })
      }
  }
  return found
}

test('hole 4: in a browser, nothing of 20,000 mutated fragments runs', async () => {
  const inputs = [...hostile, ...mutated(20_000, 4)]
  // The scan passes on what it takes for clean, so both ways are judged.
  const inputOf = new Map(inputs.flatMap((input) => [sanitize(input), rewrite(input)].map((output) => [output, input])))
  const outputs = [...inputOf.keys()]
  const page = await browser.open('about:blank')
  const found = await page.evaluate(judge, outputs)
  const shortest = found
    .map(({ index, found: what }) => ({ input: inputOf.get(outputs[index] ?? ''), output: outputs[index] ?? '', what }))
    .sort((a, b) => a.output.length - b.output.length)
  expect(shortest.slice(0, 5)).toEqual([])
})

test('hole 4: the fragments themselves run nothing where they are shown', async () => {
  const page = await browser.open('about:blank')
  const ran = await page.evaluate(async (documents) => {
    let count = 0
    Object.assign(window, { ran: () => count++ })
    const show = async (html: string) => {
      const frame = document.createElement('iframe')
      frame.srcdoc = `<script>ran = parent.ran</script>${html}`
      const isLoaded = new Promise((resolve) => frame.addEventListener('load', resolve))
      document.body.append(frame)
      await isLoaded
      for (const element of frame.contentDocument?.querySelectorAll('body *') ?? [])
        for (const type of ['mouseover', 'click'])
          element.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }))
    }
    await Promise.all(documents.map(show))
    return count
  }, hostile.map(sanitize))
  expect(ran).toBe(0)
})

test('reading what was written and writing it again changes nothing', () => {
  const outputs = mutated(5_000, 5).map(rewrite)
  expect(outputs.filter((output) => rewrite(output) !== output)).toEqual([])
})

test('style sheets keep their strings and comparisons', () => {
  const sheet = (css: string) => rewrite(`<style>${css}</style/>`)
  expect(sheet('<!-- p{color:red} -->')).toBe('<style> p{color:red} </style>')
  expect(sheet('@media (300px<width<=600px){p>a{}}')).toBe('<style>@media (300px< width<=600px){p>a{}}</style>')
  expect(sheet(`p{background:url("data:image/svg+xml,<svg>")}`)).toBe(
    '<style>p{background:url("data:image/svg+xml,\\3c svg>")}</style>',
  )
})
