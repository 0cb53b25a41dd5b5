// Where sources put what they read: definitions, items of data, and what they could not map.
import { Secrets } from '../../../server/src/db/core/secrets.ts'
import { noSettings } from '../../../server/src/engine/definitions/settings.ts'
import { keyOf, planPush } from '../../../server/src/http/definitions/plan.ts'
import type { Kind } from '../folder/layout.ts'
import type { Definition } from '../folder/source.ts'
import { isJson, type Json } from './members.ts'
import type { DataKind, RecordKind, Report } from './report.ts'

export interface Defined {
  kind: Kind
  id: string
  definition: Definition
}

/** Takes items as they are read. */
export interface Sink {
  add(kind: DataKind | RecordKind, item: Json): void
}

/** For a dry run: counts only. */
export const noSink: Sink = { add() {} }

export class Intake {
  readonly report: Report
  /** Whether what the editor would say of steps is listed: for sources whose texts had to be changed. */
  listsIssues = false
  readonly #sink: Sink
  readonly #definitions = new Map<string, Defined>()
  readonly #subscriberIds = new Set<string>()
  /** As the source gave them. */
  readonly #given = new Map<string, string>()

  constructor(report: Report, sink: Sink) {
    this.report = report
    this.#sink = sink
  }

  /** Of several with the same id the first counts; others are listed. */
  define(kind: Kind, id: string, given: Definition): void {
    const [key, text] = [keyOf({ kind, id }), JSON.stringify(given)]
    const known = this.#given.get(key)
    if (known === text) return
    this.report.found(`${kind}s`)
    if (known !== undefined) {
      const which = typeof given.name === 'string' ? `the one named "${given.name}"` : 'another one'
      this.report.unmapped({
        ...{ kind, id, path: '', code: 'same_id' },
        why: `several have this id and say different things; the first is taken, ${which} is not`,
      })
      return
    }
    this.#given.set(key, text)
    const definition = kind === 'layout' ? this.#wholeLayout(id, given) : given
    this.#definitions.set(key, { kind, id, definition })
  }

  /** The HTML of a layout is a whole document here. */
  #wholeLayout(id: string, layout: Definition): Definition {
    const { email } = (layout.controlValues ?? {}) as { email?: { body?: string; editorType?: string } }
    const { body } = email ?? {}
    if (email?.editorType !== 'html' || body === undefined || (/<html/i.test(body) && /<body/i.test(body)))
      return layout
    const to = `<!doctype html>\n<html>\n<body>\n${body}\n</body>\n</html>\n`
    this.report.changed({
      ...{ kind: 'layout', id, path: 'controlValues.email.body', from: body, to },
      why: 'the HTML of a layout is a whole document',
    })
    return { ...layout, controlValues: { email: { ...email, body: to } } }
  }

  /** Of several subscribers with the same id the first counts; others are listed. @returns whether it was taken */
  add(kind: DataKind | RecordKind, item: Json): boolean {
    if (kind === 'subscribers') {
      const id = String(item.subscriberId).trim()
      if (this.#subscriberIds.has(id)) {
        this.report.unmapped({
          ...{ kind, id, path: '', code: 'same_id' },
          why: 'several have this id; the first is taken, the others are not',
        })
        return false
      }
      this.#subscriberIds.add(id)
    }
    // Only what is sent: the list of imports waits for as many.
    this.report.found(kind)
    this.#sink.add(kind, item)
    return true
  }

  /**
   * The definitions as files have them: without defaults, in canonical form. The plan of a push against nothing finds what cannot
   * be stored; that is listed, and left out.
   */
  definitions(): Defined[] {
    let wanted = [...this.#definitions.values()]
    for (;;) {
      const { problems, normal, issues } = planOf(wanted)
      const bad = new Set(problems.map(keyOf))
      for (const { kind, id, path, message } of problems)
        this.report.unmapped({ kind, id, path, code: 'invalid', why: message })
      if (bad.size === 0) {
        for (const { kind, id, stepId, path, message } of this.listsIssues ? issues : [])
          this.report.unmapped({
            ...{ kind, id, path: stepId === null ? path : `steps.${stepId}.${path}`, code: 'issue' },
            why: message,
          })
        return wanted.flatMap((each) => {
          const definition = normal.get(keyOf(each))
          return definition ? [{ ...each, definition }] : []
        })
      }
      wanted = wanted.flatMap((each) => {
        if (!bad.has(keyOf(each))) return [each]
        const own = problems.filter((problem) => keyOf(problem) === keyOf(each)).map(({ path }) => path)
        return each.kind === 'translation' ? withoutTexts(each, own) : []
      })
    }
  }
}

/** The texts of a locale but those of one workflow or layout; nothing if the problem is another. */
function withoutTexts({ definition, ...each }: Defined, paths: string[]): Defined[] {
  const left = Object.entries(definition).map(([group, texts]) => {
    const isBad = (id: string) => paths.some((path) => `${path}.`.startsWith(`${group}.${id}.`))
    const kept = Object.entries(isJson(texts) ? texts : {}).filter(([id]) => !isBad(id))
    return [group, Object.fromEntries(kept)] as const
  })
  const count = (groups: Array<readonly [string, unknown]>) =>
    groups.reduce((sum, [, texts]) => sum + Object.keys(isJson(texts) ? texts : {}).length, 0)
  const isLess = count(left) < count(Object.entries(definition))
  const filled = left.filter(([, texts]) => Object.keys(texts).length > 0)
  return isLess && filled.length > 0 ? [{ ...each, definition: Object.fromEntries(filled) }] : []
}

const many = 1_000_000

function planOf(wanted: Defined[]) {
  const envKeys = new Set<string>()
  for (const { definition } of wanted)
    for (const [, name = ''] of JSON.stringify(definition).matchAll(/\benv\.([A-Za-z]\w*)/g)) envKeys.add(name)
  return planPush(
    structuredClone(wanted.map((each) => ({ ...each, base: 'any' }))),
    { prunes: new Set() },
    {
      rows: { layouts: [], workflows: [], translations: [] },
      ...{ settings: noSettings, files: [], envKeys: [...envKeys], environmentId: '', now: new Date() },
      limits: { workflows: many, layouts: many, steps: many, variables: many },
      opening: { secrets: new Secrets('0'.repeat(64)), hidesCredentials: false, isHeld: false, hasEverySecret: true },
    },
  )
}
