// Brands and templates of Courier as layouts and workflows.
import { givenId, identifierOf, takeId, whyRenamed } from '../identifier.ts'
import type { Intake } from '../intake.ts'
import { type Json, Members } from '../members.ts'
import { designerSteps, elementalSteps, toLiquid } from './content.ts'

const longestName = 128
const mostTags = 16

export function takeBrand(intake: Intake, brand: Json): string | undefined {
  const { report } = intake
  const said = takeId(brand, ['id'], { report, kind: 'layout', place: givenId(brand.name) ?? 'brands' })
  if (said === undefined) return undefined
  const id = identifierOf(said)
  const members = new Members(brand, { report, kind: 'layout', id })
  members.renewed(['id', 'created', 'updated', 'published', 'version'])
  if (id !== said) report.changed({ ...{ kind: 'layout', id, path: 'layoutId', from: said, to: id }, why: whyRenamed })
  const settings = members.members('settings')
  const email = settings.members('email')
  const header = email.members('header')
  const logo = header.members('logo')
  const [image, href] = [logo.text('image'), logo.text('href')]
  logo.end('only the image and its link are taken')
  header.end('only the logo is taken')
  const footer = email.members('footer')
  const content = footer.text('markdown') ?? footer.text('content')
  footer.end('only the text is taken')
  email.unmapped('templateOverride', 'no_equivalent', 'write the layout by hand')
  email.end()
  settings.unmapped('colors', 'no_equivalent', 'put them into the styles of the layout')
  settings.end()
  members.unmapped('snippets', 'no_equivalent', 'write them where they are used')
  const picture = image ? `<img src="${image}" alt="">` : ''
  const body = [
    ...(picture ? [`<p>${href ? `<a href="${href}">${picture}</a>` : picture}</p>`] : []),
    '{{content}}',
    ...(content ? [`<p>${toLiquid(content)}</p>`] : []),
  ].join('\n')
  intake.define('layout', id, {
    ...{ layoutId: id, name: members.text('name') ?? id, controlValues: { email: { body, editorType: 'html' } } },
  })
  members.end()
  return id
}

interface Around {
  brands: ReadonlySet<string>
  /** Workflows by the topic that people subscribe to. */
  topics: Map<string, string[]>
}

export function takeTemplate(intake: Intake, value: Json, { brands, topics }: Around): void {
  const { report } = intake
  const said = takeId(value, ['id'], { report, kind: 'workflow', place: givenId(value.title) ?? 'notifications' })
  if (said === undefined) return
  const id = identifierOf(said)
  if (id !== said)
    report.changed({ ...{ kind: 'workflow', id, path: 'workflowId', from: said, to: id }, why: whyRenamed })
  const members = new Members(value, { report, kind: 'workflow', id })
  members.renewed(['id', 'created_at', 'updated_at', 'published', 'version', 'state', 'created', 'updated'])
  members.unmapped('routing', 'no_equivalent', 'each channel became a step; all of them run')
  members.unmapped('event_ids', 'no_equivalent', 'trigger the workflow by its id')
  const brandId = identifierOf(idIn(members, ['brand', 'brand_id']) ?? '')
  if (brandId !== '' && !brands.has(brandId)) members.lists('brand', 'not_found', 'the brand is not in the folder')
  const topicId = idIn(members, ['topic', 'subscription'])
  if (topicId !== undefined) topics.set(topicId, [...(topics.get(topicId) ?? []), id])
  const tags = tagsIn(members)
  if (tags.length > mostTags) members.lists('tags', 'too_many', `a workflow has ${mostTags} tags at most`)
  // Older answers have the content beside the rest.
  const content = members.has('content') ? members.members('content') : members
  if (content !== members) content.renewed(['version', 'checksum'])
  const steps = content.has('elements') ? elementalSteps(content) : designerSteps(content)
  if (content !== members) content.end()
  const name = members.text('title') ?? members.text('name') ?? id
  members.take('name')
  if (name.length > longestName)
    members.changed('title', { to: name.slice(0, longestName), why: `a name has ${longestName} characters at most` })
  members.end()
  intake.define('workflow', id, {
    ...{ workflowId: id, name: name.slice(0, longestName), active: true, validatePayload: false },
    ...(tags.length > 0 ? { tags: tags.slice(0, mostTags) } : {}),
    steps: steps.map((step) =>
      step.type === 'email'
        ? {
            ...step,
            controlValues: { ...(step.controlValues as Json), layoutId: brands.has(brandId) ? brandId : null },
          }
        : step,
    ),
  })
}

/** An id, or an object that has one, under the first of these names. */
function idIn(members: Members, names: string[]): string | undefined {
  for (const name of names) {
    if (!members.has(name)) continue
    if (typeof members.take(name) === 'string') return members.text(name)
    const inner = members.members(name)
    const id = inner.text('id') ?? inner.text('topic_id')
    inner.end('only the id is taken')
    return id
  }
  return undefined
}

/** A list, perhaps under `data`, of names or of objects with names. */
function tagsIn(members: Members): string[] {
  const isPlain = Array.isArray(members.take('tags'))
  const inner = isPlain ? members : members.members('tags')
  const place = isPlain ? 'tags' : 'data'
  const isNames = inner.list(place).every((tag) => typeof tag === 'string')
  const names = isNames
    ? inner.list(place).map(String)
    : inner.each(place).flatMap((tag) => {
        const name = tag.text('name') ?? tag.text('id')
        tag.renewed(['id'])
        tag.end('only the name is taken')
        return name ?? []
      })
  if (!isPlain) inner.end('only the names are taken')
  return names
}
