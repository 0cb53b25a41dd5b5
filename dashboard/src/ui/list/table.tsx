// A dense table with a sticky header, rows that are links, and j/k to move between them.
import type { UseQueryResult } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import { ArrowDown, ArrowUp, ChevronLeft, ChevronRight } from 'lucide-react'
import { Fragment, type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { Button } from '../base/button.tsx'
import { cn } from '../base/class-names.ts'
import { useShortcut } from '../base/shortcuts.ts'
import { ErrorState, Skeleton } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { Checkbox } from '../form/switch.tsx'
import { useRowsInSight } from './rows-in-sight.ts'

export interface Column<Row> {
  id: string
  header: ReactNode
  cell: (row: Row) => ReactNode
  /** A class such as `w-40`; columns without one share the remaining width. */
  width?: string
  align?: 'right'
  /** Hidden where the table is narrower than this; what matters least goes first. */
  from?: 'sm' | 'md' | 'lg' | 'xl'
  /** The API's name for sorting by this column. */
  orderBy?: string
  /** Has the link of the row; by default the first column has it. */
  isLink?: boolean
}

/** When something happened to a row: a narrow column. */
export const timeColumn = <Key extends string>(
  header: string,
  key: Key,
  more: Pick<Column<never>, 'width' | 'align' | 'from' | 'orderBy'> = {},
): Column<Record<Key, string>> => ({
  ...{ id: key, header, width: 'w-28', ...more },
  cell: (row) => <Time at={row[key]} className="text-muted" />,
})

export interface Order {
  by: string
  direction: 'ASC' | 'DESC'
}

interface TableProps<Row> {
  label: string
  columns: ReadonlyArray<Column<Row>>
  rows: readonly Row[] | undefined
  rowKey: (row: Row) => string
  /** Group headings; rows must come ordered by group. */
  group?: { of: (row: Row) => string; heading: (group: string) => ReactNode }
  /** The link of a row. Filters stay in the URL. */
  rowLink?: (row: Row) => LinkProps
  /** The key of the row that is open in the sheet. */
  selected?: string | undefined
  order?: Order
  onOrder?: (order: Order) => void
  query?: Pick<UseQueryResult<unknown, Error>, 'error' | 'refetch' | 'isPlaceholderData'>
  /** Shown if there are no rows. */
  empty: ReactNode
  footer?: ReactNode
  /** Rows can be chosen, one by one or all that are shown. */
  selection?: Selection<Row>
  /** An endless list: renders only visible rows, and loads more near its end. */
  endless?: { hasMore: boolean; isLoading: boolean; onEnd: () => void }
}

export interface Selection<Row> {
  /** The keys of the chosen rows. */
  chosen: ReadonlySet<string>
  onChosen: (keys: ReadonlySet<string>) => void
  /** The name of a row, for its checkbox. */
  nameOf: (row: Row) => string
}

/** Matches `cellClass`. */
const rowHeight = 40
const nearEnd = 15

/** By the width of the table, not of the window: beside the sidebar there is less room. */
const from = {
  sm: '@max-[540px]:hidden',
  md: '@max-[680px]:hidden',
  lg: '@max-[860px]:hidden',
  xl: '@max-[1080px]:hidden',
}

export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, rowKey, group, rowLink, selected, order, onOrder, query, empty, footer, endless } =
    props
  const { selection } = props
  const body = useRef<HTMLTableSectionElement>(null)
  const step = (by: 1 | -1) => {
    const links = [...(body.current?.querySelectorAll<HTMLElement>('[data-row-link]') ?? [])]
    const current = links.indexOf(document.activeElement as HTMLElement)
    const open = links.findIndex((link) => link.closest('tr')?.dataset.selected !== undefined)
    const next = links[Math.max(0, Math.min(links.length - 1, (current === -1 ? open : current) + by))]
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
  }
  useShortcut('j', () => step(1))
  useShortcut('k', () => step(-1))
  const choose = (key: string, isOn: boolean) => {
    const next = new Set(selection?.chosen)
    if (isOn) next.add(key)
    else next.delete(key)
    selection?.onChosen(next)
  }
  useShortcut(
    'x',
    () => {
      const key = document.activeElement?.closest('tr')?.dataset.key
      if (key !== undefined) choose(key, !selection?.chosen.has(key))
    },
    selection !== undefined,
  )
  const walk = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : undefined
    if (by === undefined || !(event.target as HTMLElement).matches('[data-row-link]')) return
    event.preventDefault()
    const isFirst = event.target === body.current?.querySelector('[data-row-link]')
    if (by === -1 && isFirst) document.querySelector<HTMLElement>('[data-list-search]')?.focus()
    else step(by)
  }
  const linked = Math.max(
    0,
    columns.findIndex(({ isLink }) => isLink),
  )
  const count = rows?.length ?? 0
  const sight = useRowsInSight(body, { count, rowHeight, isOn: endless !== undefined })
  const isShort = endless?.hasMore === true && !endless.isLoading && sight.end >= count - nearEnd
  const latestEnd = useRef(endless?.onEnd)
  latestEnd.current = endless?.onEnd
  useEffect(() => {
    if (isShort && count > 0) latestEnd.current?.()
  }, [isShort, count])

  if (rows === undefined && query?.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  if (rows?.length === 0) return empty
  return (
    <div className="@container min-w-0">
      <table
        aria-label={label}
        aria-busy={rows === undefined || query?.isPlaceholderData}
        {...(endless && rows ? { 'aria-rowcount': endless.hasMore ? -1 : count + 1 } : {})}
        className="w-full table-fixed border-separate border-spacing-0 text-sm"
      >
        <thead>
          <tr>
            {selection && <ChooseAll selection={selection} rows={rows ?? []} rowKey={rowKey} />}
            {columns.map((column) => (
              <HeadCell key={column.id} column={column} order={order} onOrder={onOrder} />
            ))}
          </tr>
        </thead>
        <tbody
          ref={body}
          onKeyDown={walk}
          className={cn('transition-opacity duration-120', query?.isPlaceholderData && 'opacity-60')}
        >
          {sight.start > 0 && <Gap rows={sight.start} columns={columns.length} />}
          {rows === undefined
            ? Array.from({ length: 10 }, (_, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: identical rows
                <tr key={index}>
                  {selection && <td className={cn(cellClass, 'w-10 sm:w-12')} />}
                  {columns.map((column, place) => (
                    <td key={column.id} className={cn(cellClass, column.width, column.from && from[column.from])}>
                      <Skeleton className={cn('h-3.5', skeletonWidths[(index + place) % skeletonWidths.length])} />
                    </td>
                  ))}
                </tr>
              ))
            : rows.slice(sight.start, sight.end).map((row, index) => {
                const place = sight.start + index
                const key = rowKey(row)
                const link = rowLink?.(row)
                const before = rows[place - 1]
                const begins = group && (before === undefined || group.of(before) !== group.of(row))
                const line = (
                  <tr
                    key={key}
                    data-selected={key === selected ? '' : undefined}
                    data-key={key}
                    {...(endless ? { 'aria-rowindex': place + 2 } : {})}
                    className={cn(
                      'group relative',
                      link && 'hover:bg-hover has-[[data-row-link]:focus-visible]:bg-hover',
                      (key === selected || selection?.chosen.has(key)) && 'bg-accent/8 hover:bg-accent/8',
                    )}
                  >
                    {selection && (
                      <td className={cn(cellClass, 'w-10 pr-0 sm:w-12')}>
                        <span className="relative z-1 inline-grid align-middle">
                          <Checkbox
                            aria-label={`Select ${selection.nameOf(row)}`}
                            value={selection.chosen.has(key)}
                            onValue={(isOn) => choose(key, isOn)}
                          />
                        </span>
                      </td>
                    )}
                    {columns.map((column, index) => {
                      const content = column.cell(row)
                      return (
                        <td
                          key={column.id}
                          className={cn(
                            cellClass,
                            column.align === 'right' && 'text-right tabular-nums',
                            column.width,
                            column.from && from[column.from],
                          )}
                        >
                          {index === linked && link ? (
                            <Link
                              search={true as never}
                              resetScroll={false}
                              {...link}
                              data-row-link
                              className="block truncate font-medium outline-none after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
                            >
                              {content}
                            </Link>
                          ) : (
                            content
                          )}
                        </td>
                      )
                    })}
                  </tr>
                )
                if (!begins) return line
                return (
                  <Fragment key={key}>
                    <tr>
                      <th
                        scope="rowgroup"
                        colSpan={columns.filter((column) => !column.from).length}
                        className="h-10 border-b bg-raised px-4 text-left text-xs font-medium sm:px-6"
                      >
                        {group.heading(group.of(row))}
                      </th>
                      {/* One cell per column that may be hidden: a spanning cell would show hidden columns again. */}
                      {columns.map(
                        (column) =>
                          column.from && (
                            <td key={column.id} aria-hidden className={cn('border-b bg-raised', from[column.from])} />
                          ),
                      )}
                    </tr>
                    {line}
                  </Fragment>
                )
              })}
          {sight.end < count && <Gap rows={count - sight.end} columns={columns.length} />}
        </tbody>
      </table>
      {footer}
    </div>
  )
}

function ChooseAll<Row>({
  selection,
  rows,
  rowKey,
}: {
  selection: Selection<Row>
  rows: readonly Row[]
  rowKey: (row: Row) => string
}) {
  const { chosen, onChosen } = selection
  const count = rows.filter((row) => chosen.has(rowKey(row))).length
  return (
    <th
      scope="col"
      className="sticky top-(--table-top,0px) z-2 h-9 w-10 border-b bg-page px-3 pl-4 text-left sm:w-12 sm:pl-6"
    >
      <span className="inline-grid align-middle">
        <Checkbox
          aria-label="Select all on this page"
          value={count > 0 && count === rows.length ? true : count > 0 ? 'indeterminate' : false}
          onValue={(isOn) => onChosen(new Set(isOn ? rows.map(rowKey) : []))}
        />
      </span>
    </th>
  )
}

/** Space for rows that are not rendered. */
const Gap = ({ rows, columns }: { rows: number; columns: number }) => (
  <tr aria-hidden>
    <td colSpan={columns} className="p-0" style={{ height: rows * rowHeight }} />
  </tr>
)

const cellClass = 'h-10 truncate border-b px-3 py-1 first:pl-4 last:pr-4 sm:first:pl-6 sm:last:pr-6'
const skeletonWidths = ['w-2/3', 'w-1/2', 'w-3/4', 'w-2/5']

interface TwoLinesProps {
  first: ReactNode
  /** Shown while a column of its own is hidden. */
  second: ReactNode
  /** Hidden from this width of the table on. */
  until: keyof typeof until
}

const until = { sm: '@min-[540px]:hidden', md: '@min-[680px]:hidden', lg: '@min-[860px]:hidden' }

/** A cell whose second line says on a phone what another column says elsewhere. As high as one line in other rows. */
export const TwoLines = ({ first, second, until: width }: TwoLinesProps) => (
  <>
    <span className="block truncate leading-[15px] [&_*]:leading-[15px]">{first}</span>
    <span className={cn('block truncate text-xs leading-[15px] font-normal text-muted', until[width])}>{second}</span>
  </>
)

/** Shown only where the column from this width is hidden. */
export const Instead = ({ of, children }: { of: keyof typeof until; children: ReactNode }) => (
  <span className={until[of]}>{children}</span>
)

/** What can be done with the chosen rows; Escape lets go of them. It stays in sight above the list. */
export function SelectionBar({
  count,
  onClear,
  children,
}: {
  count: number
  onClear: () => void
  children: ReactNode
}) {
  useShortcut('escape', onClear, count > 0)
  if (count === 0) return null
  return (
    <div
      role="toolbar"
      aria-label="Selected rows"
      className="sticky top-0 z-3 flex min-h-11 flex-wrap items-center gap-2 border-b bg-raised px-4 py-1.5 sm:px-6"
    >
      <span role="status" className="mr-1 text-sm font-medium">
        {count.toLocaleString('en')} selected
      </span>
      {children}
      <Button size="sm" variant="ghost" shortcut="esc" className="ml-auto" onClick={onClear}>
        Clear
      </Button>
    </div>
  )
}

/** Buttons in a row, above the link that covers the row. */
export const RowActions = ({ children }: { children: ReactNode }) => (
  <div className="relative z-1 flex items-center justify-end gap-1">{children}</div>
)

interface HeadCellProps<Row> {
  column: Column<Row>
  order: Order | undefined
  onOrder: ((order: Order) => void) | undefined
}

function HeadCell<Row>({ column, order, onOrder }: HeadCellProps<Row>) {
  const { header, orderBy, align } = column
  const isOrdered = orderBy !== undefined && order?.by === orderBy
  const isUp = isOrdered && order?.direction === 'ASC'
  return (
    <th
      scope="col"
      aria-sort={isOrdered ? (isUp ? 'ascending' : 'descending') : undefined}
      className={cn(
        'sticky top-(--table-top,0px) z-2 h-9 border-b bg-page px-3 text-left text-xs font-medium text-muted first:pl-4 last:pr-4 sm:first:pl-6 sm:last:pr-6',
        align === 'right' && 'text-right tabular-nums',
        column.width,
        column.from && from[column.from],
      )}
    >
      {orderBy !== undefined && onOrder ? (
        <button
          type="button"
          className="inline-flex h-6 items-center gap-1 hover:text-ink"
          onClick={() => onOrder({ by: orderBy, direction: isOrdered && !isUp ? 'ASC' : 'DESC' })}
        >
          {header}
          {isOrdered && (isUp ? <ArrowUp className="size-3" /> : <ArrowDown className="size-3" />)}
        </button>
      ) : (
        header
      )}
    </th>
  )
}

interface PagingProps {
  page:
    | {
        next: string | null
        previous: string | null
        totalCount?: number | undefined
        totalCountCapped?: boolean | undefined
      }
    | undefined
  /** Puts the cursor into the URL. */
  onPage: (cursor: { after: string } | { before: string }) => void
  /** The plural noun: "topics". */
  noun: string
}

const singular = (noun: string) => noun.replace(/ies$/, 'y').replace(/s$/, '')

/** Below a table: the total, and buttons for the previous and next page. */
export function Paging({ page, onPage, noun }: PagingProps) {
  if (!page) return null
  const { next, previous, totalCount, totalCountCapped } = page
  return (
    <nav
      aria-label={`Pages of ${noun}`}
      className="flex h-12 items-center justify-between gap-4 px-4 text-xs text-muted sm:px-6"
    >
      <span>
        {totalCount !== undefined &&
          `${totalCount.toLocaleString('en')}${totalCountCapped ? '+' : ''} ${totalCount === 1 ? singular(noun) : noun}`}
      </span>
      {(next || previous) && (
        <span className="flex gap-1">
          <Button
            size="sm"
            icon={<ChevronLeft />}
            disabled={!previous}
            onClick={() => previous && onPage({ before: previous })}
          >
            Previous
          </Button>
          <Button size="sm" disabled={!next} onClick={() => next && onPage({ after: next })}>
            Next
            <ChevronRight />
          </Button>
        </span>
      )}
    </nav>
  )
}
