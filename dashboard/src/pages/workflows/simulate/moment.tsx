// What one person has at a moment of a simulation: their inbox, their phone and their mail, in their frames.
import { Inbox } from 'lucide-react'
import type { SimulatedMessage, Simulation } from '../../../api/simulations.ts'
import { EmptyState } from '../../../ui/base/states.tsx'
import { SimulatedFrame } from '../../../ui/domain/simulated-message.tsx'
import { momentText } from './happenings.ts'
import type { Person, Scenario } from './scenario.ts'

interface MomentProps {
  scenario: Scenario
  person: Person
  played: Simulation | undefined
  cursor: number
  zone: string
}

const places = [
  { title: 'Inbox', channels: ['in_app'], most: 3 },
  { title: 'Phone', channels: ['push', 'sms'], most: 2 },
  { title: 'Chat', channels: ['chat'], most: 2 },
  { title: 'Mail', channels: ['email'], most: 1 },
]

export function Moment({ scenario, person, played, cursor, zone }: MomentProps) {
  const there = (played?.messages ?? [])
    .filter(({ subscriberId, status }) => subscriberId === person.subscriberId && status === 'sent')
    .filter(({ at }) => Date.parse(at) <= cursor)
    .toReversed()
  const moment = momentText(zone, cursor, scenario.startAt)
  return (
    <section aria-label={`What ${person.firstName} has`} className="min-w-0 space-y-4 p-4">
      <h3 className="text-sm font-semibold">
        {person.firstName} at {moment}
      </h3>
      {there.length === 0 && (
        <EmptyState icon={<Inbox />} title="Nothing yet" className="py-6">
          Move on in time to see what arrives.
        </EmptyState>
      )}
      {places.map(({ title, channels, most }) => {
        const own = there.filter(({ channel }) => channels.includes(channel))
        if (own.length === 0) return null
        return (
          <div key={title} className="space-y-2">
            <h4 className="flex justify-between text-xs text-muted">
              {title}
              {own.length > most && <span>{own.length - most} earlier</span>}
            </h4>
            {own.slice(0, most).map((message) => (
              <SimulatedFrame
                key={message.id}
                message={message}
                when={momentText(zone, Date.parse(message.at), scenario.startAt)}
                isRead={isReadBy(scenario, message, cursor)}
              />
            ))}
          </div>
        )
      })}
    </section>
  )
}

/** By a pin between the message and now. */
const isReadBy = ({ pins, startAt }: Scenario, message: SimulatedMessage, cursor: number): boolean =>
  pins.some(
    (pin) =>
      pin.type === 'read' &&
      pin.subscriberId === message.subscriberId &&
      startAt + pin.at >= Date.parse(message.at) &&
      startAt + pin.at <= cursor,
  )
