// A question to people: its words and answers, who is asked and in which order, on which channels, and until when.
import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'
import { useId, useState } from 'react'
import { Button } from '../../../ui/base/button.tsx'
import { freeIdentifier, identifierOf } from '../../../ui/base/identifier.ts'
import { lookOf, StepIcon } from '../../../ui/domain/step-kind.tsx'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Select } from '../../../ui/form/select.tsx'
import { Checkbox } from '../../../ui/form/switch.tsx'
import type { ControlValues } from '../draft/draft.ts'
import { isBlank, issuesAt, objectOf, textOf, useStep } from '../draft/step-context.ts'
import { NumberControl, SwitchControl, TextControl } from './basic.tsx'
import { Fold } from './fold.tsx'
import { Duration } from './wait.tsx'

const mostAnswers = 10
const mostReminders = 5
const mostLevels = 20
const askChannels = ['in_app', 'email', 'chat', 'sms'] as const
const usualChannels: readonly string[] = ['in_app', 'email']

const listIn = (value: unknown): ControlValues[] => (Array.isArray(value) ? value.map(objectOf) : [])

export function AskControls() {
  const { values, set } = useStep()
  const freeText = objectOf(values.freeText)
  const hasText = values.freeText !== undefined
  return (
    <div className="space-y-4">
      <TextControl
        path="question"
        label="Question"
        isLong
        placeholder="Refund {{payload.amount}}?"
        value={values.question}
        onValue={(question) => set({ question: question || undefined })}
      />
      <TextControl
        path="details"
        label="Details"
        optional
        isLong
        placeholder="Order {{payload.order}}"
        value={values.details}
        onValue={(details) => set({ details: details || undefined })}
      />
      <Answers />
      <Duration label="Answer within" value={values} onValue={set} />
      <Channels />
      <Chain />
      <Fold
        title="More"
        aside={[hasText ? 'a text beside the answer' : [], listIn(values.reminders).length > 0 ? 'reminders' : []]
          .flat()
          .join(', ')}
      >
        <div className="space-y-4">
          <TextControl
            path="subject"
            label="Subject"
            optional
            hint="Of the email. Without one, it is the question."
            value={values.subject}
            onValue={(subject) => set({ subject: subject || undefined })}
          />
          <SwitchControl
            path="(freeText)"
            label="Ask for a text beside the answer"
            value={hasText}
            onValue={(isOn) => set({ freeText: isOn ? { label: 'Why?', required: false } : undefined })}
          />
          {hasText && (
            <div className="space-y-3 rounded-surface border p-3">
              <TextControl
                path="freeText.label"
                label="Label of the text"
                placeholder="Why?"
                value={freeText.label}
                onValue={(label) => set({ freeText: { ...freeText, label } })}
              />
              <SwitchControl
                path="freeText.required"
                label="It is required"
                hint="Then every answer is given on the page of the question."
                value={freeText.required}
                onValue={(required) => set({ freeText: { ...freeText, required } })}
              />
            </div>
          )}
          <Reminders />
        </div>
      </Fold>
    </div>
  )
}

function Answers() {
  const { values, set, issues, readOnly } = useStep()
  const answers = listIn(values.answers)
  const put = (index: number, answer: ControlValues | undefined) =>
    set({ answers: answers.flatMap((each, place) => (place === index ? (answer ?? []) : each)) })
  const general = issuesAt(issues, 'answers').filter(({ path }) => path === 'answers')
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1.5 text-sm font-medium">Answers</legend>
      {answers.map((answer, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an answer is its place
        <AnswerRow key={index} index={index} answers={answers} answer={answer} onAnswer={(next) => put(index, next)} />
      ))}
      {general.map(({ message }) => (
        <p key={message} className="text-xs text-bad">
          {message}
        </p>
      ))}
      {!readOnly && (
        <Button
          size="sm"
          icon={<Plus />}
          disabled={answers.length >= mostAnswers}
          {...(answers.length >= mostAnswers ? { hint: `Up to ${mostAnswers} answers` } : {})}
          onClick={() => set({ answers: [...answers, {}] })}
        >
          Add an answer
        </Button>
      )}
    </fieldset>
  )
}

interface AnswerRowProps {
  index: number
  answers: readonly ControlValues[]
  answer: ControlValues
  onAnswer: (answer: ControlValues | undefined) => void
}

function AnswerRow({ index, answers, answer, onAnswer }: AnswerRowProps) {
  const { issues, readOnly } = useStep()
  const label = textOf(answer.label)
  const id = textOf(answer.id)
  // The id of a new answer follows its label. Others stay: conditions may read them.
  const [isOwn, setOwn] = useState(id !== '')
  const taken = new Set(answers.flatMap((each, place) => (place === index ? [] : textOf(each.id))))
  const errors = [
    ...new Set(
      ['id', 'label'].flatMap((name) => issuesAt(issues, `answers.${index}.${name}`)).map((one) => one.message),
    ),
  ]
  return (
    <div>
      <div className="flex items-center gap-2">
        <Input
          aria-label={`Answer ${index + 1}`}
          dir="auto"
          maxLength={80}
          placeholder="Approve"
          disabled={readOnly}
          className="min-w-0 flex-1"
          value={label}
          onValue={(next) =>
            onAnswer({
              ...(next === '' ? {} : { label: next }),
              id: isOwn ? id : freeIdentifier(identifierOf(next).slice(0, 36) || `answer-${index + 1}`, taken),
            })
          }
        />
        <Input
          aria-label={`Id of answer ${index + 1}`}
          maxLength={40}
          spellCheck={false}
          disabled={readOnly}
          className="w-36 font-mono text-code"
          placeholder="approve"
          value={id}
          onValue={(next) => {
            setOwn(true)
            onAnswer({ ...answer, id: next })
          }}
        />
        {!readOnly && (
          <Button
            variant="ghost"
            size="icon"
            hint={answers.length === 1 ? 'A question has at least one answer' : `Remove answer ${index + 1}`}
            disabled={answers.length === 1}
            onClick={() => onAnswer(undefined)}
          >
            <X />
          </Button>
        )}
      </div>
      {errors.map((message) => (
        <p key={message} className={label === '' ? 'mt-1 text-xs text-muted' : 'mt-1 text-xs text-bad'}>
          {message}
        </p>
      ))}
    </div>
  )
}

function Channels() {
  const { values, set, issues, readOnly } = useStep()
  const id = useId()
  const chosen = Array.isArray(values.channels) ? values.channels.map(String) : usualChannels
  const toggle = (channel: string, isOn: boolean) => {
    const next = askChannels.filter((each) => (each === channel ? isOn : chosen.includes(each)))
    set({ channels: next.join() === usualChannels.join() ? undefined : next })
  }
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">On</legend>
      <div className="flex flex-wrap gap-x-5 gap-y-2">
        {askChannels.map((channel) => (
          <label key={channel} htmlFor={`${id}-${channel}`} className="flex items-center gap-2 text-sm">
            <Checkbox
              id={`${id}-${channel}`}
              disabled={readOnly}
              value={chosen.includes(channel)}
              onValue={(isOn) => toggle(channel, isOn)}
            />
            <StepIcon kind={channel} />
            {lookOf(channel).label}
          </label>
        ))}
      </div>
      {issuesAt(issues, 'channels').map(({ message }) => (
        <p key={message} className="mt-1.5 text-xs text-bad">
          {message}
        </p>
      ))}
    </fieldset>
  )
}

const levelKinds = [
  { value: 'subscriberIds', label: 'People' },
  { value: 'topicKey', label: 'A topic' },
  { value: 'rota', label: 'A rota' },
] as const

type LevelKind = (typeof levelKinds)[number]['value']

const kindOf = (level: ControlValues): LevelKind =>
  'rota' in level ? 'rota' : 'topicKey' in level ? 'topicKey' : 'subscriberIds'

/** One person may be written alone. */
const peopleIn = ({ subscriberId, subscriberIds }: ControlValues): string =>
  [
    ...(subscriberId === undefined ? [] : [textOf(subscriberId)]),
    ...(Array.isArray(subscriberIds) ? subscriberIds : []),
  ]
    .map(textOf)
    .join(', ')

const idsIn = (text: string): string[] => text.split(',').flatMap((id) => id.trim() || [])

function Chain() {
  const { values, set, readOnly } = useStep()
  const levels = listIn(values.chain)
  const put = (chain: ControlValues[]) =>
    set({
      chain: chain.length === 0 ? undefined : chain,
      ...(chain.length < 2 ? {} : { patience: values.patience ?? { amount: 5, unit: 'minutes' } }),
      ...(chain.length === 0 ? { patience: undefined, rounds: undefined } : {}),
    })
  const swap = (index: number, by: 1 | -1) => {
    const next = [...levels]
    next.splice(index + by, 0, ...next.splice(index, 1))
    put(next)
  }
  const patience = objectOf(values.patience)
  return (
    <fieldset className="space-y-3">
      <legend className="mb-1.5 text-sm font-medium">Who is asked</legend>
      {levels.length === 0 && <p className="text-sm text-muted">The subscriber of the run.</p>}
      {levels.map((level, index) => (
        <LevelFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a level is its place
          key={index}
          index={index}
          count={levels.length}
          level={level}
          onLevel={(next) =>
            put(levels.flatMap((each, place): ControlValues[] => (place === index ? (next ? [next] : []) : [each])))
          }
          onMove={(by) => swap(index, by)}
        />
      ))}
      {!readOnly && (
        <Button
          size="sm"
          icon={<Plus />}
          disabled={levels.length >= mostLevels}
          onClick={() => put([...levels, { subscriberIds: [] }])}
        >
          {levels.length === 0 ? 'Ask somebody else' : 'Then ask'}
        </Button>
      )}
      {levels.length > 0 && (
        <div className="grid gap-4 @md:grid-cols-2">
          <Duration
            label="Patience"
            hint="How long each level has before the next is asked too."
            optional={levels.length < 2}
            prefix="patience."
            value={patience}
            onValue={(patch) => set({ patience: { unit: 'minutes', ...patience, ...patch } })}
          />
          <NumberControl
            path="rounds"
            label="Rounds"
            optional
            placeholder="1"
            hint="After the last level it begins again."
            min={1}
            max={10}
            value={values.rounds}
            onValue={(rounds) => set({ rounds })}
          />
        </div>
      )}
    </fieldset>
  )
}

interface LevelProps {
  index: number
  count: number
  level: ControlValues
  onLevel: (level: ControlValues | undefined) => void
  onMove: (by: 1 | -1) => void
}

function LevelFields({ index, count, level, onLevel, onMove }: LevelProps) {
  const { issues, readOnly } = useStep()
  const kind = kindOf(level)
  const [typed, setTyped] = useState(peopleIn(level))
  const errors = [...new Set(issuesAt(issues, `chain.${index}`).map(({ message }) => message))]
  // As typed, while it says what is kept: a comma at the end begins the next id.
  const people = idsIn(typed).join() === idsIn(peopleIn(level)).join() ? typed : peopleIn(level)
  const value = kind === 'subscriberIds' ? people : textOf(level[kind])
  const write = (text: string) => {
    setTyped(text)
    onLevel(kind === 'subscriberIds' ? { subscriberIds: idsIn(text) } : { ...level, [kind]: text })
  }
  const isLast = index === count - 1
  return (
    <fieldset className="space-y-3 rounded-surface border p-3">
      <legend className="sr-only">{`Level ${index + 1}`}</legend>
      <div className="flex items-center gap-1">
        <span className="mr-auto flex items-center gap-2 text-sm">
          <span className="text-muted">{index === 0 ? 'First' : 'Then'}</span>
          <Select
            aria-label={`Who level ${index + 1} is`}
            className="w-32"
            disabled={readOnly}
            value={kind}
            onValue={(next) => {
              setTyped('')
              onLevel(next === 'subscriberIds' ? { subscriberIds: [] } : { [next]: '' })
            }}
            options={levelKinds}
          />
        </span>
        {!readOnly && (
          <>
            <Button variant="ghost" size="icon" hint="Ask earlier" disabled={index === 0} onClick={() => onMove(-1)}>
              <ArrowUp />
            </Button>
            <Button variant="ghost" size="icon" hint="Ask later" disabled={isLast} onClick={() => onMove(1)}>
              <ArrowDown />
            </Button>
            <Button variant="ghost" size="icon" hint={`Remove level ${index + 1}`} onClick={() => onLevel(undefined)}>
              <X />
            </Button>
          </>
        )}
      </div>
      <FieldFrame label={words[kind].label} hint={words[kind].hint} errors={errors} isEmpty={isBlank(value)}>
        {(control) => (
          <Input
            {...control}
            className="font-mono text-code"
            spellCheck={false}
            placeholder={words[kind].placeholder}
            disabled={readOnly}
            value={value}
            onValue={write}
          />
        )}
      </FieldFrame>
      {kind === 'topicKey' && (
        <SwitchControl
          path={`chain.${index}.inOrder`}
          label="One after the other"
          hint="Each member is a level, the oldest subscription first. Otherwise all are asked at once."
          value={level.inOrder}
          onValue={(inOrder) => onLevel({ ...level, inOrder: inOrder || undefined })}
        />
      )}
    </fieldset>
  )
}

const words: Record<LevelKind, { label: string; hint: string; placeholder: string }> = {
  subscriberIds: {
    label: 'Subscriber ids',
    hint: 'Separated by commas; templates work too.',
    placeholder: 'bob, {{payload.deputy}}',
  },
  topicKey: { label: 'Topic', hint: 'Its key.', placeholder: 'managers' },
  rota: { label: 'Rota', hint: 'Who is on duty when the level is reached.', placeholder: 'primary' },
}

function Reminders() {
  const { values, set, readOnly } = useStep()
  const reminders = listIn(values.reminders)
  const put = (next: ControlValues[]) => set({ reminders: next.length === 0 ? undefined : next })
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1.5 text-sm font-medium">Reminders</legend>
      {reminders.map((reminder, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a reminder is its place
        <div key={index} className="flex items-end gap-2">
          <Duration
            label={`Remind after (${index + 1})`}
            prefix={`reminders.${index}.`}
            value={reminder}
            onValue={(patch) => put(reminders.map((each, place) => (place === index ? { ...each, ...patch } : each)))}
          />
          {!readOnly && (
            <Button
              variant="ghost"
              size="icon"
              hint={`Remove reminder ${index + 1}`}
              onClick={() => put(reminders.filter((_, place) => place !== index))}
            >
              <X />
            </Button>
          )}
        </div>
      ))}
      {!readOnly && (
        <Button
          size="sm"
          icon={<Plus />}
          disabled={reminders.length >= mostReminders}
          onClick={() => put([...reminders, { amount: 10, unit: 'minutes' }])}
        >
          Add a reminder
        </Button>
      )}
    </fieldset>
  )
}
