// Limits on the cost of rendering one message, and the error that rendering throws.
// Work is counted, not timed: a template passes or fails the same way on a busy machine as on an idle one. One unit takes at
// most about 500 ns, before the compiler warms up (measured over the hostile templates of liquid.test.ts), so the whole
// allowance stays under 100 ms.

/** Template text, block documents as JSON included. Gmail cuts a message at 102 KB. */
export const SOURCE_LIMIT = 256 * 1024
/** How many `{{ }}` and `{% %}` a template may have, and their total length. The parser shifts tokens off an array, which is
 * quadratic beyond about 16,000 tokens: 100,000 of them took it 22 s. */
export const TAG_LIMIT = 1_000
export const TAG_TEXT_LIMIT = 24 * 1024
/** For all output of one message, and for any single string on the way. */
export const OUTPUT_LIMIT = 512 * 1024
/** Tags in HTML that the sanitizer must rewrite: each takes up to 25 µs. Clean HTML may have four times as many. */
export const HTML_TAG_LIMIT = 5_000
/** Attributes of one such tag. */
export const ATTRIBUTE_LIMIT = 200
/** Blocks in a document. */
export const BLOCK_LIMIT = 2_000
/** Counts statements run, list items visited, every 16 characters a filter handles, and `FILTER_COST` per filter call. */
export const WORK_LIMIT = 200_000
export const FILTER_COST = 4
/** Nesting of tags, and of blocks. */
export const DEPTH_LIMIT = 100

export type RenderErrorCode =
  | 'template_syntax'
  | 'template_too_large'
  | 'template_too_deep'
  | 'work_limit'
  | 'output_limit'
  | 'filter_failed'
  | 'translation_missing'
  | 'invalid_document'
  | 'unknown_block'
  | 'layout_missing'
  | 'not_a_list'
  | 'empty_content'

export interface Position {
  line: number
  column: number
}

/** Why a message cannot be rendered, in a sentence for the author of its template. */
export class RenderError extends Error {
  override readonly name = 'RenderError'
  readonly code: RenderErrorCode
  readonly position: Position | undefined

  constructor(
    code: RenderErrorCode,
    message: string,
    extras: { position?: Position | undefined; cause?: unknown } = {},
  ) {
    super(message, extras.cause === undefined ? {} : { cause: extras.cause })
    this.code = code
    this.position = extras.position
  }
}

export const tooDeep = (cause?: unknown) =>
  new RenderError('template_too_deep', 'The template or its data is nested too deeply; use fewer levels', { cause })

/** An upper bound of the tags in HTML. */
export function countTags(html: string): number {
  let count = 0
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at + 1)) count++
  return count
}

/** Runs rendering code, and turns anything it throws into a RenderError. */
export function guarded<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RenderError) throw error
    if (error instanceof RangeError && /call stack/i.test(error.message)) throw tooDeep(error)
    throw new RenderError(
      'filter_failed',
      `The template failed: ${error instanceof Error ? error.message : 'unknown'}`,
      {
        cause: error,
      },
    )
  }
}

/** The remaining work and output of one message, shared by all its templates. */
export class Budget {
  #work = WORK_LIMIT
  #output = OUTPUT_LIMIT
  /** Most messages weigh nothing. */
  #weights: WeakMap<object, number> | undefined

  spend(units: number) {
    // Written so that NaN fails too.
    if (!(units <= this.#work)) {
      this.#work = 0
      throw new RenderError('work_limit', 'The template takes too long; use fewer or shorter loops and smaller lists')
    }
    this.#work -= units
  }

  write(characters: number) {
    this.#output -= characters
    if (this.#output < 0) throw outputTooLarge()
  }

  /** The work of handling a value once. */
  measure(value: unknown): number {
    if (typeof value === 'string') return value.length >> 4
    if (typeof value === 'object' && value !== null) return this.#weigh(value)
    return 0
  }

  /**
   * A list weighs as much as all its elements. A template can put a list into itself (`a | push: a`): thirty such lines make
   * a list of 31 elements that prints as a billion. Filters never change a list, so a weight can be cached.
   */
  #weigh(value: object): number {
    const known = this.#weights?.get(value)
    if (known !== undefined) return known
    let weight = 1
    if (Array.isArray(value)) {
      weight += value.length
      for (const element of value) {
        if (typeof element === 'string') weight += element.length >> 4
        else if (Array.isArray(element) || element instanceof Group) weight += this.#weigh(element)
      }
    } else if (value instanceof Group) {
      weight += this.#weigh(value.items)
    } else {
      weight += Object.keys(value).length
    }
    this.#weights ??= new WeakMap()
    this.#weights.set(value, weight)
    return weight
  }
}

/** Result of the group_by filters: the only kind of object a template can build, so it is weighed like a list. */
export class Group {
  name: unknown
  items: unknown[]

  constructor(name: unknown, items: unknown[]) {
    this.name = name
    this.items = items
  }
}

export const outputTooLarge = () =>
  new RenderError('output_limit', `The template writes more than ${OUTPUT_LIMIT} characters`)
