// Plays a simulation: moves the moment one looks at through time.
import { useEffect, useRef, useState } from 'react'

export const speeds = [1, 60, 3_600] as const
export type Speed = (typeof speeds)[number]

interface Playback {
  isPlaying: boolean
  speed: Speed
  setSpeed: (speed: Speed) => void
  toggle: () => void
  stop: () => void
}

interface Options {
  from: number
  to: number
  cursor: number
  /** The moments at which something happens, in order. */
  moments: readonly number[]
  onCursor: (at: number) => void
}

/** Who wants no motion is taken from one thing to the next instead. */
const jumpMs = 900

export const nextOf = (moments: readonly number[], at: number): number | undefined =>
  moments.find((each) => each > at + 0.5)
export const previousOf = (moments: readonly number[], at: number): number | undefined =>
  moments.findLast((each) => each < at - 0.5)

export function usePlayback({ from, to, cursor, moments, onCursor }: Options): Playback {
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<Speed>(60)
  const latest = useRef({ cursor, to, moments, onCursor })
  latest.current = { cursor, to, moments, onCursor }
  useEffect(() => {
    if (!isPlaying) return
    const go = (at: number | undefined) => {
      const { to: end, onCursor: move } = latest.current
      move(Math.min(at ?? end, end))
      if (at === undefined || at >= end) setPlaying(false)
    }
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      const jumping = setInterval(() => go(nextOf(latest.current.moments, latest.current.cursor)), jumpMs)
      return () => clearInterval(jumping)
    }
    let last = performance.now()
    let frame = requestAnimationFrame(function move(now) {
      const passed = (now - last) * speed
      last = now
      go(latest.current.cursor + passed)
      frame = requestAnimationFrame(move)
    })
    return () => cancelAnimationFrame(frame)
  }, [isPlaying, speed])
  return {
    isPlaying,
    speed,
    setSpeed,
    toggle: () => {
      // At the end it begins anew.
      if (!isPlaying && cursor >= to) onCursor(from)
      setPlaying(!isPlaying)
    },
    stop: () => setPlaying(false),
  }
}
