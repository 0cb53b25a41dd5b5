// Compiles Liquid templates to closures that write: text, outputs and every tag.
import {
  type AssignTag,
  type CaptureTag,
  type CaseTag,
  type CycleTag,
  type EchoTag,
  type FilteredValueToken,
  type ForTag,
  type Hash,
  type IfTag,
  type IncrementTag,
  type LiquidTag,
  type Output,
  type RawTag,
  type TablerowTag,
  type Tag,
  type Template,
  type Token,
  TypeGuards,
  type UnlessTag,
  type Value,
} from 'liquidjs'
import { compileFiltered, compileToken } from './expressions.ts'
import { DEPTH_LIMIT, tooDeep } from './limits.ts'
import {
  type Emit,
  type Evaluate,
  escapeHtml,
  isEqual,
  isTruthy,
  Loop,
  type Run,
  type Scope,
  toIterable,
  toValue,
} from './run.ts'

/** `text` writes everything unchanged. `html` turns text into HTML: it escapes the template's text and its values. */
export type Mode = 'text' | 'html'

class Compiler {
  readonly mode: Mode
  #depth = 0

  constructor(mode: Mode) {
    this.mode = mode
  }

  sequence(templates: readonly Template[]): Emit {
    if (++this.#depth > DEPTH_LIMIT) throw tooDeep()
    const emits = templates.map((template) => this.one(template))
    this.#depth--
    const [only] = emits
    if (only === undefined) return () => {}
    return (run) => {
      for (let i = 0; i < emits.length; i++) {
        run.budget.spend(1)
        emits[i]?.(run)
        // A break or continue ends this sequence and those around it, up to the loop.
        if (run.flow !== 'on') return
      }
    }
  }

  one(template: Template): Emit {
    const { token } = template
    if (TypeGuards.isHTMLToken(token)) {
      const text = this.mode === 'html' ? escapeHtml(token.getContent()) : token.getContent()
      return (run) => run.write(text)
    }
    if (TypeGuards.isOutputToken(token)) return this.output((template as Output).value)
    const { name } = template as Tag
    const compile = tags[name]
    if (compile === undefined) throw new Error(`no compiler for the tag "${name}"`)
    return compile(template as never, this)
  }

  output(value: Value | FilteredValueToken): Emit {
    const evaluate = compileFiltered(value)
    if (this.mode === 'text' || value.filters.at(-1)?.name === 'raw')
      return (run) => run.write(run.print(evaluate(run)))
    return (run) => run.write(escapeHtml(run.print(evaluate(run))))
  }
}

type CompileTag<T> = (tag: T, compiler: Compiler) => Emit

/** Members that are missing in LiquidJS's types. */
type Inside<T, Members> = Omit<T, keyof Members> & Members
type Branch = { test: Evaluate; wanted: boolean; emit: Emit }

function branches(list: readonly Branch[], otherwise: Emit): Emit {
  return (run) => {
    for (const { test, wanted, emit } of list) {
      if (isTruthy(test(run)) === wanted) return emit(run)
    }
    return otherwise(run)
  }
}

const ifTag: CompileTag<IfTag> = (tag, compiler) =>
  branches(
    tag.branches.map(({ value, templates }) => ({
      test: compileFiltered(value),
      wanted: true,
      emit: compiler.sequence(templates),
    })),
    compiler.sequence(tag.elseTemplates ?? []),
  )

const unlessTag: CompileTag<UnlessTag> = (tag, compiler) =>
  branches(
    tag.branches.map(({ value, templates }, i) => ({
      test: compileFiltered(value),
      wanted: i > 0,
      emit: compiler.sequence(templates),
    })),
    compiler.sequence(tag.elseTemplates),
  )

const caseTag: CompileTag<CaseTag> = (tag, compiler) => {
  const subject = compileFiltered(tag.value)
  const cases = tag.branches.map(({ values, templates }) => ({
    values: values.map(compileToken),
    emit: compiler.sequence(templates),
  }))
  const otherwise = compiler.sequence(tag.elseTemplates)
  return (run) => {
    const wanted = toValue(subject(run))
    const hits = cases.filter(({ values }) => values.some((value) => isEqual(wanted, value(run), run.budget)))
    for (const { emit } of hits) emit(run)
    if (hits.length === 0) otherwise(run)
  }
}

const compileHash = ({ hash }: Hash) =>
  Object.fromEntries(Object.entries(hash).map(([name, token]) => [name, token && compileToken(token)]))

const count = (value: unknown, otherwise: number) => {
  const number = Number(toValue(value))
  return value === undefined || value === null || Number.isNaN(number) ? otherwise : Math.trunc(number)
}

/** Like JavaScript's slice: a negative start or length counts from the end. */
const part = (items: readonly unknown[], from: number, length: number) =>
  from >= 0 && length >= 0 ? items.slice(from, from + length) : items.slice(from).slice(0, length)

const forTag: CompileTag<ForTag> = (tag, compiler) => {
  const collection = compileToken(tag.collection)
  const { offset, limit } = compileHash(tag.hash)
  const isReversed = 'reversed' in tag.hash.hash
  const body = compiler.sequence(tag.templates)
  const otherwise = compiler.sequence(tag.elseTemplates)
  const name = `${tag.variable}-${tag.collection.getText()}`
  const isContinued = tag.hash.hash.offset?.getText() === 'continue'
  return (run) => {
    const all = toIterable(collection(run), run.budget)
    if (all.length === 0) return otherwise(run)
    const start = isContinued ? (run.registers.get(name) ?? 0) : count(offset?.(run), 0)
    const items = part(all, start, count(limit?.(run), all.length))
    if (isReversed) items.reverse()
    run.registers.set(name, start + items.length)
    repeat(run, items, tag.variable, 'forloop', new Loop(items.length, name), (_, emit) => emit(run), body)
    return undefined
  }
}

/** Runs `body` for each item; `around` may write before and after it. */
function repeat(
  run: Run,
  items: readonly unknown[],
  variable: string,
  loopName: string,
  loop: Loop,
  around: (loop: Loop, body: Emit) => void,
  body: Emit,
) {
  run.budget.spend(4 + items.length)
  const scope: Scope = Object.create(null)
  scope[loopName] = loop
  run.scopes.push(scope)
  for (const item of items) {
    scope[variable] = item
    run.flow = 'on'
    around(loop, body)
    if ((run.flow as Run['flow']) === 'break') break
    loop.next()
  }
  run.flow = 'on'
  run.scopes.pop()
}

const tablerowTag: CompileTag<TablerowTag> = (tag, compiler) => {
  const collection = compileToken(tag.collection)
  const { offset, limit, cols } = compileHash(tag.args)
  const body = compiler.sequence(tag.templates)
  const name = `${tag.variable}-${tag.collection.getText()}`
  return (run) => {
    const all = toIterable(collection(run), run.budget)
    const start = count(offset?.(run), 0)
    const items = part(all, start, count(limit?.(run), all.length))
    const columns = Math.max(count(cols?.(run), items.length), 1)
    const loop = new Loop(items.length, name, columns)
    const cell = (_: Loop, emit: Emit) => {
      if (loop.read('col0') === 0) {
        const row = Number(loop.read('row'))
        run.write(`${row > 1 ? '</tr>' : ''}<tr class="row${row}">`)
      }
      run.write(`<td class="col${Number(loop.read('col'))}">`)
      emit(run)
      run.write('</td>')
    }
    repeat(run, items, tag.variable, 'tablerowloop', loop, cell, body)
    if (items.length > 0) run.write('</tr>')
  }
}

const assignTag: CompileTag<Inside<AssignTag, { key: string; value: Value }>> = ({ key, value }) => {
  const evaluate = compileFiltered(value)
  return (run) => {
    run.locals[key] = evaluate(run)
  }
}

const captureTag: CompileTag<CaptureTag> = (tag, compiler) => {
  const body = compiler.sequence(tag.templates)
  return (run) => {
    run.locals[tag.variable] = run.capture(body)
  }
}

const counterTag =
  (step: 1 | -1): CompileTag<Inside<IncrementTag, { variable: string }>> =>
  ({ variable }) =>
  (run) => {
    const before = Number(run.counters[variable] ?? 0)
    run.counters[variable] = before + step
    run.write(String(step === 1 ? before : before - 1))
  }

const cycleTag: CompileTag<Inside<CycleTag, { candidates: FilteredValueToken[]; group?: Token }>> = (tag, compiler) => {
  const group = compileToken(tag.group)
  const candidates = tag.candidates.map((candidate) => compiler.output(candidate))
  const all = tag.candidates.map((candidate) => candidate.getText()).join(',')
  return (run) => {
    const key = `cycle:${run.print(group(run))}:${all}`
    const at = run.registers.get(key) ?? 0
    run.registers.set(key, (at + 1) % candidates.length)
    candidates[at]?.(run)
  }
}

const echoTag: CompileTag<Inside<EchoTag, { value?: Value }>> = ({ value }, compiler) =>
  value === undefined ? () => {} : compiler.output(value)

const rawTag: CompileTag<Inside<RawTag, { tokens: Token[] }>> = ({ tokens }, compiler) => {
  const source = tokens.map((token) => token.getText()).join('')
  const text = compiler.mode === 'html' ? escapeHtml(source) : source
  return (run) => run.write(text)
}

const liquidTag: CompileTag<LiquidTag> = (tag, compiler) => compiler.sequence(tag.templates)

const flowTag =
  (flow: Run['flow']): CompileTag<Tag> =>
  () =>
  (run) => {
    run.flow = flow
  }

const tags: Record<string, CompileTag<never>> = {
  assign: assignTag,
  break: flowTag('break'),
  capture: captureTag,
  case: caseTag,
  comment: () => () => {},
  continue: flowTag('continue'),
  cycle: cycleTag,
  decrement: counterTag(-1),
  echo: echoTag,
  for: forTag,
  if: ifTag,
  increment: counterTag(1),
  liquid: liquidTag,
  raw: rawTag,
  tablerow: tablerowTag,
  unless: unlessTag,
  '#': () => () => {},
}

export const compileTemplates = (templates: readonly Template[], mode: Mode): Emit =>
  new Compiler(mode).sequence(templates)
