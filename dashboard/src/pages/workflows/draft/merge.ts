// Merges two edits of one workflow. What only one side changed is taken; what both changed to different values collides, and a
// person decides. Steps are matched by `stepId`, which never changes.
import { freeIdentifier } from '../../../ui/base/identifier.ts'
import type { ControlValues, Draft, DraftStep } from './draft.ts'
import { controlName, fieldName, stepFieldName } from './field-names.ts'
import { isMembers, memberOf, namesIn, same } from './same.ts'
import { type Arm, allSteps, armsOf, mapSteps } from './tree.ts'

export interface Collision {
  /** Unique in a merge, and the same in the next one. */
  path: string
  /** The field, in words. */
  what: string
  /** The step it belongs to. */
  step?: Pick<DraftStep, 'name' | 'type'>
  /** Undefined: this side has removed it. */
  mine: unknown
  theirs: unknown
}

/** What a person chose for a collision: one of the sides, or a text of their own. */
export type Choice = 'mine' | 'theirs' | { text: string }

/** Something that was taken from the other side. */
export interface Taken {
  verb: 'changed' | 'added' | 'deleted'
  what: string
}

export interface Merge {
  /** With what was chosen; collisions without a choice have my value. */
  draft: Draft
  collisions: Collision[]
  taken: Taken[]
  /** My new steps whose `stepId` the other side has given to a new step too. */
  renamed: Array<readonly [from: string, to: string]>
}

interface Sides<Value> {
  base: Value
  mine: Value
  theirs: Value
}

interface Place {
  path: string
  what: string
  /** For the note: "the body of Email". */
  said: string
  step?: Pick<DraftStep, 'name' | 'type'>
}

/** These make sense together only: a block document is no HTML, and "5 hours" is neither "5 minutes" nor "10 hours". */
const unitsOfControls = [
  ['body', 'editorType'],
  ['type', 'amount', 'unit', 'cron', 'dynamicKey'],
] as const

export function mergeDrafts(
  base: Draft,
  mine: Draft,
  theirs: Draft,
  choices: ReadonlyMap<string, Choice> = new Map(),
): Merge {
  const sides = { base, mine, theirs }
  return mergeTrees(sides, choices, !isMovedAndChanged(sides))
}

/** Whether a step went to another list on one side, and was changed or went elsewhere on the other: it would be there twice. */
function isMovedAndChanged({ base, mine, theirs }: Sides<Draft>): boolean {
  const before = byId(allSteps(base.steps))
  const sides = [mine, theirs].map(({ steps }) => ({
    steps: byId(allSteps(steps)),
    lists: listsOf(steps, before),
  }))
  const lists = listsOf(base.steps, before)
  return [...before.values()].some((step) => {
    const [one, other] = sides.map((side) => {
      const now = side.steps.get(step.stepId)
      return {
        isMoved: now !== undefined && side.lists.get(step.stepId) !== lists.get(step.stepId),
        isChanged: now !== undefined && !isAlike(now, step),
        list: side.lists.get(step.stepId),
      }
    })
    if (!one || !other || !(one.isMoved || other.isMoved)) return false
    if (one.isMoved && other.isMoved) return one.list !== other.list || one.isChanged || other.isChanged
    return one.isMoved ? other.isChanged : one.isChanged
  })
}

/** The list that each step is in: an arm is the same if it was renamed or sorted. */
function listsOf(
  steps: readonly DraftStep[],
  before: ReadonlyMap<string, DraftStep>,
  list = '',
  found = new Map<string, string>(),
): ReadonlyMap<string, string> {
  for (const step of steps) {
    found.set(step.stepId, list)
    const [arms, known] = [step, before.get(step.stepId)].map((of) =>
      of ? armsOf(of).flatMap(({ key, arm }) => (key === 'default' ? [] : arm)) : [],
    )
    const places = placesOf(arms ?? [], known ?? [])
    for (const { key, arm } of armsOf(step)) {
      const place = key === 'default' ? key : (places[key] ?? `new ${arm.name}`)
      listsOf(arm.steps, before, `${step.stepId}:${place}`, found)
    }
  }
  return found
}

function mergeTrees(
  { base, mine, theirs }: Sides<Draft>,
  choices: ReadonlyMap<string, Choice>,
  insideArms: boolean,
): Merge {
  const merging = new Merging(choices, insideArms)
  const { draft: own, renamed } = withOwnStepIds(base, mine, theirs)
  const plain = ['name', 'description', 'active', 'severity', 'validatePayload', 'isTranslationEnabled'] as const
  const refusing = ['messageClass', 'consentCategory'] as const
  const draft = { ...own }
  for (const field of [...plain, ...refusing, 'tags', 'payloadSchema', 'preferences', 'tracking', 'journey'] as const) {
    const sides: Sides<unknown> = { base: base[field], mine: own[field], theirs: theirs[field] }
    const what = fieldName(field)
    const place = { path: field, what, said: `the ${what.toLowerCase()}` }
    const value = (field as string) === 'preferences' ? merging.preferences(place, sides) : merging.value(place, sides)
    Object.assign(draft, { [field]: value })
  }
  draft.steps = merging.steps({ base: base.steps, mine: own.steps, theirs: theirs.steps })
  return { draft, collisions: merging.collisions, taken: merging.taken, renamed }
}

/** Two people who each add an email step get the same `stepId` for it. They are two steps, unless they are alike. */
function withOwnStepIds(base: Draft, mine: Draft, theirs: Draft): Pick<Merge, 'draft' | 'renamed'> {
  const known = byId(allSteps(base.steps))
  const others = byId(allSteps(theirs.steps))
  const taken = new Set([base, mine, theirs].flatMap(({ steps }) => idsOf(allSteps(steps))))
  const renamed: Array<readonly [string, string]> = []
  const steps = mapSteps(mine.steps, (step) => {
    const other = others.get(step.stepId)
    if (!other || known.has(step.stepId) || isAlike(step, other)) return step
    const stepId = freeIdentifier(step.stepId, taken)
    taken.add(stepId)
    renamed.push([step.stepId, stepId])
    return { ...withoutId(step), stepId }
  })
  return { draft: { ...mine, steps }, renamed }
}

class Merging {
  readonly collisions: Collision[] = []
  readonly taken: Taken[] = []
  readonly #choices: ReadonlyMap<string, Choice>
  readonly #insideArms: boolean

  constructor(choices: ReadonlyMap<string, Choice>, insideArms: boolean) {
    this.#choices = choices
    this.#insideArms = insideArms
  }

  /** A value as a whole. */
  whole<Value>(place: Place, { base, mine, theirs }: Sides<Value>): Value {
    if (same(mine, theirs) || same(base, theirs)) return mine
    if (same(base, mine)) {
      this.#take('changed', place.said)
      return theirs
    }
    return this.#collide(place, { base, mine, theirs })
  }

  /** Objects member by member, lists of words as sets, anything else as a whole. */
  value(place: Place, { base, mine, theirs }: Sides<unknown>): unknown {
    const isOneSided = same(mine, theirs) || same(base, theirs) || same(base, mine)
    if (!isOneSided && isWords(mine) && isWords(theirs)) {
      this.#take('changed', place.said)
      return mergeWords({ base: isWords(base) ? base : [], mine, theirs })
    }
    if (isOneSided || !isMembers(mine) || !isMembers(theirs)) return this.whole(place, { base, mine, theirs })
    const before = isMembers(base) ? base : {}
    const entries = namesIn(mine, theirs, before).map((name) => {
      const inner = { ...place, path: `${place.path}.${name}`, what: `${place.what} › ${name}` }
      const of = (side: Record<string, unknown>) => memberOf(side, name)
      return [name, this.value(inner, { base: of(before), mine: of(mine), theirs: of(theirs) })] as const
    })
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  }

  /** Null means "as the default", so that is what the first own settings are compared with. */
  preferences(place: Place, { base, ...sides }: Sides<unknown>): unknown {
    const { user, default: usual } = base as Draft['preferences']
    return this.value(place, { base: { user: user ?? withNullUnlessBoth(sides, usual), default: usual }, ...sides })
  }

  /** @param within the arm, in words and as a path; undefined at the top level */
  steps({ base, mine, theirs }: Sides<DraftStep[]>, within?: Pick<Place, 'path' | 'what'>): DraftStep[] {
    const sides = { base: byId(base), mine: byId(mine), theirs: byId(theirs) }
    const merged = new Map<string, DraftStep>()
    for (const { stepId } of [...mine, ...theirs]) {
      if (merged.has(stepId)) continue
      const step = this.#step(stepId, {
        base: sides.base.get(stepId),
        mine: sides.mine.get(stepId),
        theirs: sides.theirs.get(stepId),
      })
      if (step) merged.set(stepId, step)
    }
    const order = this.#order({ base, mine, theirs }, merged, within)
    return order.flatMap((stepId) => merged.get(stepId) ?? [])
  }

  #step(stepId: string, { base, mine, theirs }: Sides<DraftStep | undefined>): DraftStep | undefined {
    const { name, type } = mine ?? theirs ?? { name: stepId, type: '' }
    const place = { path: `steps.${stepId}`, what: 'Step', said: `the step “${name}”`, step: { name, type } }
    if (mine && theirs) return this.#fields(place, { base: base ?? mine, mine, theirs })
    if (!base) {
      if (theirs) this.#take('added', place.said)
      return theirs ?? mine
    }
    if (mine && isAlike(mine, base)) {
      this.#take('deleted', place.said)
      return undefined
    }
    if (theirs && isAlike(theirs, base)) return undefined
    const kept = this.#collide<DraftStep | undefined>(place, { base, mine, theirs })
    // The other side's deletion made its id invalid.
    return kept && kept === mine ? withoutId(kept) : kept
  }

  #fields(of: Place, { base, mine, theirs }: Sides<DraftStep>): DraftStep {
    const place = (path: string, what: string): Place => {
      const said = `the ${what.toLowerCase()} of ${mine.name}`
      return { ...of, path: `${of.path}.${path}`, what, said }
    }
    const step = { ...withoutId(mine), ...(theirs._id === undefined ? {} : { _id: theirs._id }) }
    for (const field of ['name', 'type', 'active', 'shouldStopOnFail', 'onUnknown', 'replyCallback'] as const) {
      const sides = { base: base[field], mine: mine[field], theirs: theirs[field] }
      Object.assign(step, { [field]: this.whole<unknown>(place(field, stepFieldName(field)), sides) })
    }
    const values = { base: base.controlValues, mine: mine.controlValues, theirs: theirs.controlValues }
    const merged = unitsIn(values).flatMap((names): Array<[string, unknown]> => {
      const [first = ''] = names
      const where = place(`controls.${first}`, controlName(first))
      const sides = {
        base: pick(values.base, names),
        mine: pick(values.mine, names),
        theirs: pick(values.theirs, names),
      }
      if (names.length > 1) return Object.entries(this.whole(where, sides))
      const of = (side: ControlValues) => memberOf(side, first)
      if (first === 'arms' && mine.type === 'branch') return [[first, this.#arms(where, { base, mine, theirs })]]
      if (first === 'default' && mine.type === 'branch') return this.#default(where, { base, mine, theirs })
      const value = this.whole(where, { base: of(sides.base), mine: of(sides.mine), theirs: of(sides.theirs) })
      return value === undefined ? [] : [[first, value]]
    })
    return { ...step, controlValues: Object.fromEntries(merged) }
  }

  /** Arm by arm, unless both sides have added, removed or sorted arms. */
  #arms(place: Place, { base, mine, theirs }: Sides<DraftStep>): unknown {
    const of = (step: DraftStep) => armsOf(step).flatMap(({ key, arm }) => (key === 'default' ? [] : arm))
    const sides = { base: of(base), mine: of(mine), theirs: of(theirs) }
    const [myPlaces, theirPlaces] = [placesOf(sides.mine, sides.base), placesOf(sides.theirs, sides.base)]
    const usual = sides.base.map((_, index) => index)
    const haveIChanged = !same(myPlaces, usual)
    const haveChanged = !same(theirPlaces, usual)
    const whole = { base: sides.base, mine: sides.mine, theirs: sides.theirs }
    if (!this.#insideArms || (haveIChanged && haveChanged)) return this.whole(place, whole)
    const [leading, places, following, others] = haveChanged
      ? [sides.theirs, theirPlaces, sides.mine, myPlaces]
      : [sides.mine, myPlaces, sides.theirs, theirPlaces]
    // What one side removed and the other changed is for a person to decide.
    const isLost = usual.some((at) => !places.includes(at) && !same(following[others.indexOf(at)], sides.base[at]))
    if (isLost) return this.whole(place, whole)
    if (haveChanged) this.#take('changed', place.said)
    return leading.map((arm, index) => {
      const at = places[index]
      const before = at === undefined ? undefined : sides.base[at]
      const other = at === undefined ? undefined : following[others.indexOf(at)]
      if (!before || !other) return arm
      const inner = { ...place, path: `${place.path}.${before.name}`, what: `Arm ${before.name}` }
      return this.#arm(inner, { base: before, mine: haveChanged ? other : arm, theirs: haveChanged ? arm : other })
    })
  }

  #default(place: Place, { base, mine, theirs }: Sides<DraftStep>): Array<[string, unknown]> {
    const of = (step: DraftStep) => armsOf(step).find(({ key }) => key === 'default')?.arm
    const sides = { base: of(base), mine: of(mine), theirs: of(theirs) }
    const isEverywhere = this.#insideArms && sides.base && sides.mine && sides.theirs
    const value = isEverywhere ? this.#arm(place, sides as Sides<Arm>) : this.whole(place, sides)
    return value === undefined ? [] : [['default', value]]
  }

  #arm(place: Place, { base, mine, theirs }: Sides<Arm>): Arm {
    const part = (name: 'name' | 'condition' | 'end') => {
      const where = { ...place, path: `${place.path}.${name}`, what: `${place.what} › ${armParts[name]}` }
      return this.whole<unknown>(where, { base: base[name], mine: mine[name], theirs: theirs[name] })
    }
    const [name, condition, end] = [part('name'), part('condition'), part('end')]
    const { condition: _, end: __, ...rest } = mine
    return {
      ...{ ...rest, name: String(name) },
      steps: this.steps({ base: base.steps, mine: mine.steps, theirs: theirs.steps }, place),
      ...given({ condition, end: end as boolean | undefined }),
    } as Arm
  }

  /** The order of the side that moved steps, with the other side's additions behind the steps that they follow there. */
  #order(
    { base, mine, theirs }: Sides<DraftStep[]>,
    merged: ReadonlyMap<string, DraftStep>,
    within: Pick<Place, 'path' | 'what'> | undefined,
  ): string[] {
    const ids = { base: idsOf(base), mine: idsOf(mine), theirs: idsOf(theirs) }
    const haveMoved = !isSameOrder(ids.base, ids.theirs)
    const haveIMoved = !isSameOrder(ids.base, ids.mine)
    let leads: 'mine' | 'theirs' = haveMoved && !haveIMoved ? 'theirs' : 'mine'
    if (leads === 'theirs') this.#take('changed', 'the order of the steps')
    if (haveMoved && haveIMoved && !isSameOrder(ids.mine, ids.theirs)) {
      const names = (steps: DraftStep[]) => steps.map(({ name }) => name).join(' → ')
      const place = {
        path: within ? `${within.path}.order` : 'order',
        what: within ? `Order of the steps in ${within.what}` : 'Order of the steps',
        said: '',
      }
      this.#collide(place, { base: names(base), mine: names(mine), theirs: names(theirs) })
      if (this.#choices.get(place.path) === 'theirs') leads = 'theirs'
    }
    const followers = leads === 'mine' ? ids.theirs : ids.mine
    const order = ids[leads].filter((id) => merged.has(id))
    for (const [index, id] of followers.entries()) {
      if (!merged.has(id) || order.includes(id)) continue
      const before = followers.slice(0, index).findLast((each) => order.includes(each))
      order.splice(before === undefined ? 0 : order.indexOf(before) + 1, 0, id)
    }
    return order
  }

  #collide<Value>({ path, what, step }: Place, { mine, theirs }: Sides<Value>): Value {
    this.collisions.push({ path, what, ...(step ? { step } : {}), mine, theirs })
    const choice = this.#choices.get(path)
    if (choice === 'theirs') return theirs
    return isText(choice) && isEditable({ mine, theirs }) ? (choice.text as Value) : mine
  }

  #take(verb: Taken['verb'], what: string): void {
    if (!this.taken.some((each) => each.verb === verb && each.what === what)) this.taken.push({ verb, what })
  }
}

const armParts = { name: 'name', condition: 'condition', end: 'end of the run' }

/** For each arm its place in the base: by name, or where it was if it was only renamed; undefined for a new one. */
function placesOf(arms: readonly Arm[], base: readonly Arm[]): Array<number | undefined> {
  const names = new Set(arms.map(({ name }) => name))
  return arms.map(({ name }, index) => {
    const found = base.findIndex((arm) => arm.name === name)
    if (found !== -1) return found
    const before = base[index]
    return arms.length === base.length && before && !names.has(before.name) ? index : undefined
  })
}

/** Without members that are undefined. */
const given = <Members extends object>(members: Members): Partial<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Members>

const isText = (choice: Choice | undefined): choice is { text: string } => typeof choice === 'object'

/** Whether a person can write a text of their own instead of choosing a side. */
export const isEditable = ({ mine, theirs }: Pick<Collision, 'mine' | 'theirs'>): boolean =>
  typeof mine === 'string' && typeof theirs === 'string'

const idsOf = (steps: readonly DraftStep[]) => steps.map(({ stepId }) => stepId)
const byId = (steps: readonly DraftStep[]) => new Map(steps.map((step) => [step.stepId, step]))

function withoutId({ _id, ...step }: DraftStep): DraftStep {
  return step
}

const isAlike = (a: DraftStep, b: DraftStep): boolean => same(mapSteps([a], withoutId), mapSteps([b], withoutId))

/** Whether what both lists contain has the same order in both. */
const isSameOrder = (a: string[], b: string[]): boolean =>
  same(
    a.filter((id) => b.includes(id)),
    b.filter((id) => a.includes(id)),
  )

const isWords = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') && new Set(value).size === value.length

/** Theirs, without what I removed and with what I added. */
function mergeWords({ base, mine, theirs }: Sides<string[]>): string[] {
  const kept = theirs.filter((word) => mine.includes(word) || !base.includes(word))
  return [...kept, ...mine.filter((word) => !base.includes(word) && !theirs.includes(word))]
}

function withNullUnlessBoth({ mine, theirs }: Omit<Sides<unknown>, 'base'>, usual: unknown): unknown {
  return [mine, theirs].every((side) => (side as Draft['preferences']).user !== null) ? usual : null
}

/** Names of controls that are merged together; one by one where a side has changed no more than one of a unit. */
function unitsIn({ base, mine, theirs }: Sides<ControlValues>): Array<readonly string[]> {
  const isChanged = (name: string) => [mine, theirs].some((side) => !same(memberOf(base, name), memberOf(side, name)))
  const together = unitsOfControls.filter((unit) => unit.filter(isChanged).length > 1)
  const names = namesIn(mine, theirs, base)
  const alone = names.filter((name) => !together.some((unit) => (unit as readonly string[]).includes(name)))
  return [...together, ...alone.map((name) => [name])]
}

const pick = (values: ControlValues, names: readonly string[]): ControlValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)))

const mostTold = 3

/** "Ada changed the body of Email and added the step “SMS”; both kept." */
export function noteOf(who: string, taken: readonly Taken[], hasMine: boolean): string {
  const told = taken.slice(0, mostTold).map(({ verb, what }, index) => {
    return taken[index - 1]?.verb === verb ? what : `${verb} ${what}`
  })
  const rest = taken.length - told.length
  const list = new Intl.ListFormat('en').format(rest > 0 ? [...told, `${rest} more`] : told)
  return `${who} ${list}${hasMine ? '; both kept' : ''}.`
}
