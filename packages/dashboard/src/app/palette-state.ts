// Whether the palette is open, and for what.
import { useSyncExternalStore } from 'react'

/** 'tenant': it offers tenants and nothing else. */
export type PaletteKind = 'all' | 'tenant'

let open: PaletteKind | null = null
const listeners = new Set<() => void>()

function change(next: PaletteKind | null): void {
  open = next
  for (const listener of listeners) listener()
}

export const openPalette = (kind: PaletteKind = 'all'): void => change(kind)
export const closePalette = (): void => change(null)

export const usePaletteKind = (): PaletteKind | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => open,
  )
