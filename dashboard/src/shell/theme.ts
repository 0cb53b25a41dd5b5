import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'
// index.html reads it before the first render.
const place = 'belfry-theme'
const listeners = new Set<() => void>()

const chosen = (): Theme => {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

export function setTheme(theme: Theme): void {
  if (theme === 'system') {
    delete document.documentElement.dataset.theme
    localStorage.removeItem(place)
  } else {
    document.documentElement.dataset.theme = theme
    localStorage.setItem(place, theme)
  }
  for (const listener of listeners) listener()
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, chosen)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
