// What two people changed differently, side by side. Nothing is saved, and nothing is lost, until one is chosen for each field.
import { TriangleAlert } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Button } from '../../../ui/base/button.tsx'
import { cn } from '../../../ui/base/class-names.ts'
import { Time } from '../../../ui/base/time.tsx'
import { StepIcon } from '../../../ui/domain/step-kind.tsx'
import { type BlockNode, readDocument } from '../../../ui/email/block-document.ts'
import { Textarea } from '../../../ui/form/input.tsx'
import { Dialog } from '../../../ui/frame/dialog.tsx'
import type { DraftStep } from '../draft/draft.ts'
import { controlName } from '../draft/field-names.ts'
import { type Choice, type Collision, isEditable } from '../draft/merge.ts'
import { isMembers } from '../draft/same.ts'
import type { Conflict } from '../draft/use-draft.ts'

interface CompareProps {
  conflict: Conflict | undefined
  autosaves: boolean
  onResolve: (choices: ReadonlyMap<string, Choice>) => void
}

export function Compare({ conflict, autosaves, onResolve }: CompareProps) {
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map())
  const [isClosed, setClosed] = useState(false)
  const isOver = conflict === undefined
  useEffect(() => {
    if (!isOver) return
    setChoices(new Map())
    setClosed(false)
  }, [isOver])
  if (!conflict) return null
  const { who, newer, collisions } = conflict
  const open = collisions.filter(({ path }) => !choices.has(path)).length
  const choose = (path: string, choice: Choice) => setChoices((before) => new Map(before).set(path, choice))
  const chooseAll = (choice: Choice) => setChoices(new Map(collisions.map(({ path }) => [path, choice])))
  const fields = collisions.length === 1 ? 'the same field' : `the same ${collisions.length} fields`
  const happened = who === undefined ? `You changed ${fields} in another window` : `${who} changed ${fields} as you`
  return (
    <>
      <div role="alert" className="flex flex-wrap items-center gap-2 border-b bg-warn/8 px-4 py-2 text-sm sm:px-6">
        <TriangleAlert className="size-4 text-warn" aria-hidden />
        <span className="flex-1">{happened}. Your changes are kept here until you choose.</span>
        <Button size="sm" variant="primary" onClick={() => setClosed(false)}>
          Compare
        </Button>
      </div>
      <Dialog
        open={!isClosed}
        onClose={() => setClosed(true)}
        size="lg"
        title="Which one do you want to keep?"
        description={
          <>
            {happened} and saved <Time at={newer.savedAt} />. All other changes are merged.
          </>
        }
        footer={
          <>
            {collisions.length > 1 && (
              <span className="mr-auto flex gap-2">
                <Button onClick={() => chooseAll('mine')}>All of yours</Button>
                <Button onClick={() => chooseAll('theirs')}>All of theirs</Button>
              </span>
            )}
            <Button onClick={() => setClosed(true)}>Decide later</Button>
            <Button variant="primary" disabled={open > 0} onClick={() => onResolve(choices)}>
              {open > 0 ? `${open} to choose` : autosaves ? 'Save' : 'Use these'}
            </Button>
          </>
        }
      >
        <div className="space-y-5">
          {collisions.map((collision) => (
            <Field
              key={collision.path}
              collision={collision}
              theirs={who === undefined ? 'In the other window' : newer.savedBy.name === null ? 'Theirs' : `${who}’s`}
              at={newer.savedAt}
              choice={choices.get(collision.path)}
              onChoice={(choice) => choose(collision.path, choice)}
            />
          ))}
        </div>
      </Dialog>
    </>
  )
}

interface FieldProps {
  collision: Collision
  /** Whose the other value is. */
  theirs: string
  at: string
  choice: Choice | undefined
  onChoice: (choice: Choice) => void
}

function Field({ collision, theirs, at, choice, onChoice }: FieldProps) {
  const { path, what, step } = collision
  const isOwn = typeof choice === 'object'
  const isStep = what === 'Step'
  const card = (side: 'mine' | 'theirs', title: ReactNode) => (
    <Card name={path} title={title} isChosen={choice === side} onChoose={() => onChoice(side)}>
      <Value value={collision[side]} isStep={isStep} />
    </Card>
  )
  return (
    <fieldset>
      <legend className="mb-2 flex items-center gap-2 text-sm font-medium">
        {step && <StepIcon kind={step.type} />}
        <span dir="auto">{!step ? what : isStep ? `Step “${step.name}”` : `${what} of ${step.name}`}</span>
      </legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {card('mine', 'Yours')}
        {card(
          'theirs',
          <>
            {theirs} <Time at={at} className="font-normal text-muted" />
          </>,
        )}
      </div>
      {isEditable(collision) && (
        <div className="mt-2">
          <Card
            name={path}
            title="Write another"
            isChosen={isOwn}
            onChoose={() => onChoice({ text: isOwn ? choice.text : String(collision.mine) })}
          />
          {isOwn && (
            <Textarea
              aria-label={`Another ${what.toLowerCase()}`}
              className="mt-2 font-mono text-code"
              dir="auto"
              value={choice.text}
              onValue={(written) => onChoice({ text: written })}
            />
          )}
        </div>
      )}
    </fieldset>
  )
}

interface CardProps {
  name: string
  title: ReactNode
  isChosen: boolean
  onChoose: () => void
  children?: ReactNode
}

const Card = ({ name, title, isChosen, onChoose, children }: CardProps) => (
  <div
    className={cn(
      'flex min-w-0 flex-col overflow-hidden rounded-control border has-focus-visible:ring-2 has-focus-visible:ring-accent/40',
      isChosen ? 'border-accent' : 'border-line-strong hover:border-faint',
    )}
  >
    <label className="flex cursor-pointer items-center gap-2 px-3 py-2 text-sm font-medium">
      <input
        type="radio"
        name={name}
        checked={isChosen}
        onChange={onChoose}
        className="size-4 accent-accent outline-none"
      />
      <span>{title}</span>
    </label>
    {children && (
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
        className="max-h-60 flex-1 overflow-y-auto border-t bg-sunken px-3 py-2 text-code break-words whitespace-pre-wrap outline-none"
      >
        {children}
      </pre>
    )}
  </div>
)

function Value({ value, isStep }: { value: unknown; isStep: boolean }) {
  const shown = isStep && value !== undefined ? textOfStep(value as DraftStep) : textOf(value)
  if (shown === '') return <span className="text-muted">{isStep ? 'Deleted' : 'Empty'}</span>
  return <span dir="auto">{shown}</span>
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'boolean') return value ? 'On' : 'Off'
  if (typeof value === 'string') {
    const document = readDocument(value)
    return document ? textOfBlocks(document).trim() || 'Blocks without text' : value
  }
  // An email's body with its editor, or the parts of a wait.
  if (isMembers(value) && typeof value.body === 'string') return textOf(value.body)
  return JSON.stringify(value, undefined, 2)
}

const textOfStep = ({ name, controlValues }: DraftStep): string =>
  [name, ...Object.entries(controlValues).map(([control, value]) => `${controlName(control)}: ${textOf(value)}`)].join(
    '\n',
  )

/** What a reader would see of a block document, a line for each block. */
function textOfBlocks({ type, text, attrs, content = [] }: BlockNode): string {
  if (text !== undefined) return text
  if (type === 'variable') return `{{${String(attrs?.id ?? '')}}}`
  if (type === 'hardBreak') return '\n'
  const inner = content.map(textOfBlocks).join('')
  const own =
    type === 'button' ? `[${String(attrs?.text ?? '')}]` : type === 'image' ? `[${String(attrs?.alt ?? 'image')}]` : ''
  const isLine = content.some((each) => each.type === 'text' || each.type === 'variable') || own !== ''
  return isLine ? `${inner}${own}\n` : inner
}
