import { useEffect, useState } from 'react'

/** The value once it has not changed for a while; compared by content. */
export function useDebounced<Value>(value: Value, ms: number): Value {
  const [calm, setCalm] = useState(value)
  const text = JSON.stringify(value)
  // biome-ignore lint/correctness/useExhaustiveDependencies: compared by content
  useEffect(() => {
    const pause = setTimeout(() => setCalm(value), ms)
    return () => clearTimeout(pause)
  }, [text, ms])
  return calm
}
