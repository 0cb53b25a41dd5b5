// Finds a subscriber, or several, by name, address or id.
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { nameOf, subscribers } from '../../api/subscribers.ts'
import { Combobox, MultiCombobox } from '../form/combobox.tsx'

interface SubscriberPickerProps {
  id?: string
  value: string | undefined
  onValue: (subscriberId: string) => void
  /** The text while no subscriber is chosen. */
  placeholder?: string
  disabled?: boolean
  allowNew?: boolean
  className?: string
  'aria-label'?: string
}

export function SubscriberPicker(props: SubscriberPickerProps) {
  const { setTyped, unique, isLoading } = useSearch()
  const chosen = useQuery({
    ...subscribers.list({ limit: 1, subscriberId: props.value ?? '' }),
    enabled: props.value !== undefined,
  })
  const own = props.value === undefined ? undefined : chosen.data?.data[0]
  return (
    <Combobox
      aria-label="Subscriber"
      placeholder="Choose a subscriber…"
      {...props}
      display={own ? nameOf(own) : undefined}
      onSearch={setTyped}
      isLoading={isLoading}
      options={unique.map((one) => ({
        value: one.subscriberId,
        label: nameOf(one),
        hint: nameOf(one) === one.email ? one.subscriberId : (one.email ?? one.subscriberId),
      }))}
    />
  )
}

/** Those who fit what was typed, found by id first. */
function useSearch() {
  const [typed, setTyped] = useState('')
  const text = useDeferredValue(typed.trim())
  const query = text.includes('@') ? { email: text } : { name: text }
  const byText = useQuery(subscribers.list({ limit: 10, ...(text === '' ? {} : query) }))
  const byId = useQuery({ ...subscribers.list({ limit: 1, subscriberId: text }), enabled: text !== '' })
  const found = [...(text === '' ? [] : (byId.data?.data ?? [])), ...(byText.data?.data ?? [])]
  const unique = [...new Map(found.map((one) => [one.subscriberId, one])).values()]
  return { setTyped, unique, isLoading: byText.isFetching }
}

interface SubscribersPickerProps {
  id?: string
  value: readonly string[]
  onValue: (subscriberIds: string[]) => void
  className?: string
  'aria-label'?: string
}

/** Several, shown by their ids. Those who do not exist yet can be typed. */
export function SubscribersPicker({ value, ...props }: SubscribersPickerProps) {
  const { setTyped, unique, isLoading } = useSearch()
  const others = value.filter((id) => unique.every(({ subscriberId }) => subscriberId !== id))
  return (
    <MultiCombobox
      placeholder="Choose subscribers…"
      {...props}
      allowNew
      value={value}
      onSearch={setTyped}
      isLoading={isLoading}
      options={[
        ...unique.map((one) => ({
          ...{ value: one.subscriberId, label: one.subscriberId },
          ...(nameOf(one) === one.subscriberId ? {} : { hint: nameOf(one) }),
        })),
        ...others.map((id) => ({ value: id, label: id })),
      ]}
    />
  )
}
