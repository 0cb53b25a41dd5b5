// Finds a subscriber by name, address or id.
import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { nameOf, subscribers } from '../../api/subscribers.ts'
import { Combobox } from '../form/combobox.tsx'

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
  const [typed, setTyped] = useState('')
  const text = useDeferredValue(typed.trim())
  const query = text.includes('@') ? { email: text } : { name: text }
  const byText = useQuery(subscribers.list({ limit: 10, ...(text === '' ? {} : query) }))
  const byId = useQuery({ ...subscribers.list({ limit: 1, subscriberId: text }), enabled: text !== '' })
  const chosen = useQuery({
    ...subscribers.list({ limit: 1, subscriberId: props.value ?? '' }),
    enabled: props.value !== undefined,
  })
  const found = [...(text === '' ? [] : (byId.data?.data ?? [])), ...(byText.data?.data ?? [])]
  const unique = [...new Map(found.map((one) => [one.subscriberId, one])).values()]
  const own = props.value === undefined ? undefined : chosen.data?.data[0]
  return (
    <Combobox
      aria-label="Subscriber"
      placeholder="Choose a subscriber…"
      {...props}
      display={own ? nameOf(own) : undefined}
      onSearch={setTyped}
      isLoading={byText.isFetching}
      options={unique.map((one) => ({
        value: one.subscriberId,
        label: nameOf(one),
        hint: nameOf(one) === one.email ? one.subscriberId : (one.email ?? one.subscriberId),
      }))}
    />
  )
}
