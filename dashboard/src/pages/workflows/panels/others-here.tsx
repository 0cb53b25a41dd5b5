// Who else has the workflow open now.
import { Avatar } from '../../../ui/base/avatar.tsx'

const mostFaces = 3
const list = new Intl.ListFormat('en')

export function OthersHere({ others }: { others: ReadonlyArray<{ _id: string; name: string }> }) {
  if (others.length === 0) return null
  const names = others.map(({ name }) => name)
  const rest = others.length - mostFaces
  const isAlone = others.length === 1
  return (
    <span className="inline-flex items-center gap-1.5 text-sm text-muted" title={`Also here: ${list.format(names)}`}>
      <span aria-hidden className="flex -space-x-1.5">
        {others.slice(0, mostFaces).map(({ _id, name }) => (
          <Avatar
            key={_id}
            name={name}
            className="bg-[color-mix(in_oklab,var(--accent)_15%,var(--page))] ring-2 ring-page"
          />
        ))}
        {rest > 0 && (
          <span className="grid size-6 place-items-center rounded-full bg-sunken text-2xs font-semibold ring-2 ring-page">
            +{rest}
          </span>
        )}
      </span>
      <span className={isAlone ? 'max-w-36 truncate max-xl:sr-only' : 'sr-only'}>
        <span className="sr-only">Also here: </span>
        {list.format(names)}
      </span>
    </span>
  )
}
