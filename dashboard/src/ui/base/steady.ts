import { useInsertionEffect, useRef, useState } from 'react'

type Functions = Record<string, (...given: never[]) => unknown>

/**
 * Functions that stay the same for as long as the component lives, so that what gets them is not drawn again. A call goes to
 * those of the last render.
 */
export function useSteady<T extends Functions>(functions: T): T {
  const latest = useRef(functions)
  useInsertionEffect(() => {
    latest.current = functions
  })
  const [steady] = useState(() =>
    Object.fromEntries(
      Object.keys(functions).map((name) => [name, (...given: never[]) => latest.current[name]?.(...given)]),
    ),
  )
  return steady as T
}
