// Which rows of a long list are visible. Only those are rendered, so that the list stays fast however far the user scrolls.
import { type RefObject, useLayoutEffect, useState } from 'react'

interface Rows {
  count: number
  /** Every row has this height. */
  rowHeight: number
  isOn: boolean
}

/** Rows rendered beyond the edges, for scrolling and keyboard. Rendered again only after scrolling past so many rows. */
const beyond = 20
const stride = 10

/** `end` is exclusive. */
export function useRowsInSight(
  list: RefObject<HTMLElement | null>,
  { count, rowHeight, isOn }: Rows,
): { start: number; end: number } {
  const [first, setFirst] = useState(0)
  const [inView, setInView] = useState(40)
  useLayoutEffect(() => {
    const element = list.current
    if (!isOn || !element || count === 0) return
    const scroller = scrollerOf(element)
    const look = () => {
      const above = scroller.getBoundingClientRect().top - element.getBoundingClientRect().top
      const row = Math.max(0, Math.floor(above / rowHeight))
      setFirst(Math.min(row, count - 1) - (Math.min(row, count - 1) % stride))
      setInView(Math.ceil(scroller.clientHeight / rowHeight) + stride)
    }
    look()
    scroller.addEventListener('scroll', look, { passive: true })
    const resizing = new ResizeObserver(look)
    resizing.observe(scroller)
    return () => {
      scroller.removeEventListener('scroll', look)
      resizing.disconnect()
    }
  }, [list, count, rowHeight, isOn])
  if (!isOn) return { start: 0, end: count }
  const start = Math.min(Math.max(0, first - beyond), count)
  return { start, end: Math.min(count, first + inView + beyond) }
}

function scrollerOf(element: HTMLElement): HTMLElement {
  for (let parent = element.parentElement; parent; parent = parent.parentElement)
    if (/auto|scroll/.test(getComputedStyle(parent).overflowY)) return parent
  return document.documentElement
}
