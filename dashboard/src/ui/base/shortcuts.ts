import { useLayoutEffect, useRef } from 'react'

/**
 * Handles a key pressed anywhere, unless the user is typing (`mod+` shortcuts always work) or a dialog is open. Show the
 * shortcut on its button: `<Button shortcut="c">`.
 */
export function useShortcut(keys: string, call: (event: KeyboardEvent) => void, isOn = true): void {
  const latest = useRef(call)
  latest.current = call
  // Before the button is painted: whoever sees it can press its key.
  useLayoutEffect(() => {
    if (!isOn) return
    const parts = keys.split('+')
    const key = parts.at(-1) ?? ''
    const needsMod = parts.includes('mod')
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== key.toLowerCase()) return
      if (needsMod !== (event.metaKey || event.ctrlKey) || event.altKey || event.defaultPrevented) return
      if (!needsMod && (isTyping(event.target) || document.querySelector('[role="dialog"][data-modal]'))) return
      event.preventDefault()
      latest.current(event)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [keys, isOn])
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}
