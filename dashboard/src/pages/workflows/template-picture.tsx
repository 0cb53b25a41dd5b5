// A small picture of what a template sends first, drawn from its content with its own example values.
import { lookOf } from '../../ui/domain/step-kind.tsx'
import type { Block, Template } from './draft/template-parts.ts'

type Examples = Record<string, string>

const subscriber: Examples = { 'subscriber.firstName': 'Ada' }

function examplesOf({ workflow }: Template): Examples {
  const { properties = {} } = (workflow.payloadSchema ?? {}) as { properties?: Record<string, { default?: string }> }
  const ofPayload = Object.entries(properties).map(([name, one]) => [`payload.${name}`, one.default ?? ''])
  return { ...subscriber, ...Object.fromEntries(ofPayload) }
}

const exampleOf = (name: string, examples: Examples) => examples[name.replace(/^steps\.[\w-]+\.events\./, '')] ?? '3'

const filled = (template: string, examples: Examples) =>
  template.replaceAll(/\{\{([^{}]*)\}\}/g, (_, inner: string) =>
    exampleOf(inner.trim().split(/[^\w.-]/, 1)[0] ?? '', examples),
  )

function textOf({ type, text, attrs, content = [] }: Block, examples: Examples): string {
  if (type === 'text') return text ?? ''
  if (type === 'variable') return exampleOf(String(attrs?.id), examples)
  return content.map((child) => textOf(child, examples)).join('')
}

export function TemplatePicture({ template }: { template: Template }) {
  const first = template.workflow.steps.find(({ type }) => ['email', 'in_app', 'sms', 'push', 'chat'].includes(type))
  const examples = examplesOf(template)
  const box = 'flex h-26 w-full overflow-hidden rounded-control border bg-sunken p-2 text-2xs leading-snug'
  if (!first)
    return (
      <span aria-hidden className={`${box} items-center justify-center text-muted`}>
        Nothing yet
      </span>
    )
  const { subject = '', body = '' } = first.controlValues as { subject?: string; body?: string }
  const { icon: Icon, hue } = lookOf(first.type)
  return (
    <span aria-hidden className={box}>
      <span className="flex min-w-0 flex-1 flex-col gap-1 rounded-sm bg-page p-2 shadow-[0_0_0_1px_var(--line)]">
        <span className="flex shrink-0 items-center gap-1 font-semibold">
          <Icon className="size-3 shrink-0" style={{ color: hue }} />
          <span className="truncate">{filled(subject || body, examples)}</span>
        </span>
        {first.type === 'email' ? (
          (JSON.parse(body) as { content: Block[] }).content
            .filter(({ type }) => type !== 'heading')
            .slice(0, 3)
            .map((block, index) => <Line key={keyOf(block, index)} block={block} examples={examples} />)
        ) : (
          <span className="line-clamp-2 text-muted">{filled(body, examples)}</span>
        )}
      </span>
    </span>
  )
}

const keyOf = ({ type }: Block, index: number) => `${type}-${index}`

function Line({ block, examples }: { block: Block; examples: Examples }) {
  if (block.type === 'button')
    return (
      <span className="w-fit shrink-0 rounded-sm bg-accent px-1.5 font-medium text-on-accent">
        {String(block.attrs?.text)}
      </span>
    )
  return (
    <span className={block.type === 'heading' ? 'shrink-0 truncate font-semibold' : 'shrink-0 truncate text-muted'}>
      {textOf(block, examples)}
    </span>
  )
}
