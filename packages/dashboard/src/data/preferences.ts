// What a person has chosen for this browser: theme, time zone. index.html reads the theme as well, before the first paint.
import { useSyncExternalStore } from 'react'

const DEFAULTS = {
  /** '' follows the system. */
  theme: '',
  /** 'local' or 'UTC'. */
  zone: 'local',
} as const

type Preference = keyof typeof DEFAULTS
const listeners = new Set<() => void>()

const keyOf = (name: string) => `millrace.${name}`

function read(name: Preference): string {
  try {
    return localStorage.getItem(keyOf(name)) ?? DEFAULTS[name]
  } catch {
    // Storage may be forbidden: then the choice lasts as long as the page.
    return DEFAULTS[name]
  }
}

export function choose(name: Preference, value: string): void {
  store(keyOf(name), value === DEFAULTS[name] ? null : value)
  if (name === 'theme') {
    if (value === '') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = value
  }
  for (const listener of listeners) listener()
}

export function usePreference(name: Preference): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => read(name),
  )
}

function store(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    // As above.
  }
}
