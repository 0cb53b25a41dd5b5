// The Liquid dialect: LiquidJS 10 parses templates, without the tags that read files.
import {
  type FilteredValueToken,
  Liquid,
  LiquidError,
  Tag,
  type TagToken,
  type Template,
  type Token,
  Tokenizer,
  type TopLevelToken,
  TypeGuards,
} from 'liquidjs'
import { guarded, type Position, RenderError, SOURCE_LIMIT, TAG_LIMIT, TAG_TEXT_LIMIT } from './limits.ts'

/** `templates` replaces the file system by an empty one. */
const liquid = new Liquid({ templates: {} })

for (const name of ['include', 'render', 'layout', 'block']) {
  liquid.registerTag(
    name,
    class extends Tag {
      constructor(token: TagToken, remainTokens: TopLevelToken[], engine: Liquid) {
        super(token, remainTokens, engine)
        throw new Error(`the tag "${name}" is not available: a template cannot use other templates`)
      }
      render() {}
    },
  )
}

// LiquidJS checks the lines of `{% # comments %}` with a regular expression that is quadratic on blank lines.
liquid.registerTag(
  '#',
  class extends Tag {
    constructor(token: TagToken, remainTokens: TopLevelToken[], engine: Liquid) {
      super(token, remainTokens, engine)
      const isComment = (line: string) => line.trim() === '' || line.trimStart().startsWith('#')
      if (!token.args.split('\n').slice(1).every(isComment)) {
        throw new Error("every line of an inline comment must start with a '#' character")
      }
    }
    render() {}
  },
)

/** Where outputs and tags start and end. An unclosed one reaches to the end of the source. */
export function* tagsIn(source: string): Generator<[number, number]> {
  let at = 0
  for (;;) {
    const begin = source.indexOf('{', at)
    if (begin < 0) return
    const kind = source[begin + 1]
    if (kind !== '{' && kind !== '%') {
      at = begin + 1
      continue
    }
    const close = source.indexOf(kind === '{' ? '}}' : '%}', begin + 2)
    at = close < 0 ? source.length : close + 2
    yield [begin, at]
  }
}

export function checkSource(source: string) {
  if (source.length > SOURCE_LIMIT) tooLarge(`${source.length} characters`, SOURCE_LIMIT)
  let tags = 0
  let characters = 0
  for (const [begin, end] of tagsIn(source)) {
    tags++
    characters += end - begin
    if (tags > TAG_LIMIT) tooLarge(`more than ${TAG_LIMIT} outputs and tags`, TAG_LIMIT)
    if (characters > TAG_TEXT_LIMIT)
      tooLarge(`more than ${TAG_TEXT_LIMIT} characters in its outputs and tags`, TAG_TEXT_LIMIT)
  }
}

function tooLarge(what: string, limit: number): never {
  throw new RenderError('template_too_large', `The template has ${what}; at most ${limit} are allowed`)
}

export function parseTemplate(source: string): Template[] {
  checkSource(source)
  return guarded(() => {
    try {
      return liquid.parse(source)
    } catch (error) {
      throw LiquidError.is(error) ? syntaxError(error) : error
    }
  })
}

/** An expression without braces, such as `payload.name | upcase`. */
export function parseExpression(source: string): FilteredValueToken {
  checkSource(source)
  return guarded(() => {
    try {
      const tokenizer = new Tokenizer(source)
      const value = tokenizer.readFilteredValue()
      tokenizer.skipBlank()
      if (!tokenizer.end()) throw tokenizer.error(`unexpected ${tokenizer.snapshot()}`)
      return value
    } catch (error) {
      throw LiquidError.is(error) ? syntaxError(error) : error
    }
  })
}

/** A path such as `author.name`; undefined for anything else. */
export function parsePath(source: string): (string | number)[] | undefined {
  const tokenizer = new Tokenizer(source)
  const token = guarded(() => tokenizer.readScopeValue())
  if (token === undefined || !tokenizer.end() || !TypeGuards.isPropertyAccessToken(token)) return undefined
  const keys = token.props.map(staticKey)
  return keys.every((key) => key !== undefined) ? keys : undefined
}

export function staticKey(token: Token): string | number | undefined {
  const isStatic = TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token) || TypeGuards.isWordToken(token)
  return isStatic ? token.content : undefined
}

export function positionOf(token: Token): Position {
  const [line = 1, column = 1] = token.getPosition()
  return { line, column }
}

function syntaxError(error: LiquidError): RenderError {
  const message = error.message.replace(/, line:\d+, col:\d+$/, '')
  const position = positionOf(error.token)
  return new RenderError('template_syntax', `Line ${position.line}, column ${position.column}: ${message}`, {
    position,
    cause: error.originalError ?? error,
  })
}
