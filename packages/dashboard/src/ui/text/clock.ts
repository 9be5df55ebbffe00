// One clock for the whole page: however many ages are shown, one timer moves them all.
import { createContext, useContext, useSyncExternalStore } from 'react'
import type { TimeZone } from './format.ts'

const STEP_MS = 1_000
const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

function tick(): void {
  if (document.hidden) return
  now = Date.now()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    timer = setInterval(tick, STEP_MS)
    document.addEventListener('visibilitychange', tick)
  }
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    document.removeEventListener('visibilitychange', tick)
  }
}

function read(): number {
  if (listeners.size === 0) now = Date.now()
  return now
}

/** Milliseconds since 1970, moving once a second. */
export const useNow = (): number => useSyncExternalStore(subscribe, read)

const TimeZoneContext = createContext<TimeZone>('local')

/** Every time below it is shown in this zone. */
export const TimeZoneProvider = TimeZoneContext.Provider

export const useTimeZone = (): TimeZone => useContext(TimeZoneContext)
