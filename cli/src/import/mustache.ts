// Texts with `{{…}}` and the usual blocks of Handlebars, as Liquid. Each source says what its names are called here.

const tag = /\{\{\{?([^{}]*)\}\}\}?/g

export interface Names {
  /** What a variable is called here. @param loop the variable of the loop around, if there is one */
  pathOf(name: string, loop: string | undefined): string
  /** What is shown where the variable is empty. */
  defaultOf?(name: string): string | undefined
}

export interface Converted {
  liquid: string
  /** Helpers that there is nothing for. */
  unknown: string[]
}

const isLiteral = (name: string) => /^(?:-?\d+(?:\.\d+)?|true|false|null|"[^"]*"|'[^']*')$/.test(name)

export function toLiquid(text: string, { pathOf, defaultOf = () => undefined }: Names): Converted {
  const unknown: string[] = []
  /** The variables of the loops around. */
  const loops: string[] = []
  const path = (name: string): string => {
    if (isLiteral(name)) return name
    const clean = name.replaceAll('[', '').replaceAll(']', '')
    const loop = loops.at(-1)
    if (clean === '@index') return 'forloop.index0'
    if (loop !== undefined && (clean === 'this' || clean === '.')) return loop
    if (loop !== undefined && clean.startsWith('this.')) return `${loop}.${clean.slice(5)}`
    if (clean.startsWith('../')) {
      const outer = loops.at(-1 - (clean.split('../').length - 1))
      const rest = clean.replaceAll('../', '')
      return outer === undefined ? pathOf(rest, undefined) : `${outer}.${rest}`
    }
    return pathOf(clean, loop)
  }
  const liquid = text.replaceAll(tag, (whole: string, written: string) => {
    const inside = written.replaceAll('~', '').trim()
    if (inside.startsWith('!')) return `{% comment %}${inside.slice(1).replaceAll('--', '')}{% endcomment %}`
    if (inside === 'else') return '{% else %}'
    const [head = '', ...rest] = inside.split(/\s+/)
    switch (head) {
      case '#if':
      case '#unless':
        return `{% ${head.slice(1)} ${path(rest.join(' '))} %}`
      case '#each': {
        const list = path(rest[0] ?? '')
        const item = `item${loops.length === 0 ? '' : loops.length + 1}`
        loops.push(item)
        return `{% for ${item} in ${list} %}`
      }
      case '/if':
      case '/unless':
        return `{% end${head.slice(1)} %}`
      case '/each':
        loops.pop()
        return '{% endfor %}'
      default:
        break
    }
    if (inside.startsWith('#') || inside.startsWith('/') || rest.length > 0) {
      unknown.push(inside)
      return whole
    }
    const usual = defaultOf(head)
    return `{{${path(head)}${usual === undefined ? '' : ` | default: ${JSON.stringify(usual)}`}}}`
  })
  return { liquid, unknown }
}
