// Swiping a row: towards its end marks it as read, towards its start archives it.
import type { Props } from './dom.ts'
import type { Ui } from './ui.ts'

const farEnough = 88
/** Pixels before a movement counts as a swipe and not as scrolling. */
const slack = 12

interface Swipe {
  pointerId: number
  fromX: number
  fromY: number
  by: number
  isSideways: boolean
}

const swipes = new WeakMap<EventTarget, Swipe>()

export function swipe(ui: Ui, { towardsEnd, towardsStart }: { towardsEnd(): void; towardsStart(): void }): Props {
  const end = ui.direction === 'rtl' ? -1 : 1
  const show = (row: HTMLElement, by: number) => {
    const card = row.querySelector<HTMLElement>('.card')
    if (card) card.style.transform = by === 0 ? '' : `translateX(${by}px)`
    row.classList.toggle('swiped-end', by * end > 0)
    row.classList.toggle('swiped-start', by * end < 0)
    row.classList.toggle('far', Math.abs(by) >= farEnough)
  }
  const finish = (event: PointerEvent, isDone: boolean) => {
    const row = event.currentTarget as HTMLElement
    const current = swipes.get(row)
    if (!current) return
    swipes.delete(row)
    show(row, 0)
    if (!isDone || Math.abs(current.by) < farEnough) return
    if (current.by * end > 0) towardsEnd()
    else towardsStart()
  }
  return {
    onPointerdown: (event: PointerEvent) => {
      const { pointerType, pointerId, clientX: fromX, clientY: fromY } = event
      if (pointerType !== 'touch') return
      swipes.set(event.currentTarget as HTMLElement, { pointerId, fromX, fromY, by: 0, isSideways: false })
    },
    onPointermove: (event: PointerEvent) => {
      const row = event.currentTarget as HTMLElement
      const current = swipes.get(row)
      if (current?.pointerId !== event.pointerId) return
      const by = event.clientX - current.fromX
      if (!current.isSideways) {
        if (Math.abs(event.clientY - current.fromY) > slack) swipes.delete(row)
        if (Math.abs(by) < slack) return
        current.isSideways = true
        row.setPointerCapture(event.pointerId)
      }
      current.by = by
      show(row, by)
    },
    onPointerup: (event: PointerEvent) => finish(event, true),
    onPointercancel: (event: PointerEvent) => finish(event, false),
  }
}
