// The keys of the screen that is shown, for the line at the foot and for the help.
import { useEffect, useSyncExternalStore } from 'react'
import type { KeyHint } from '../ui/key-hints.tsx'

const NONE: readonly KeyHint[] = []
const listeners = new Set<() => void>()
let shown: readonly KeyHint[] = NONE

function change(next: readonly KeyHint[]): void {
  shown = next
  for (const listener of listeners) listener()
}

/** A screen says which keys it has: `useKeyHints(HINTS)`, with a constant list. */
export function useKeyHints(hints: readonly KeyHint[]): void {
  useEffect(() => {
    change(hints)
    return () => change(NONE)
  }, [hints])
}

export const useShownHints = (): readonly KeyHint[] =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => shown,
  )
