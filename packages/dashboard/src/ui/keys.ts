// Single keys, as on a trading screen. They rest while text is typed, while a dialog is open, and with a modifier.
import { useEffect, useRef } from 'react'

/** By key, as the browser names it: 'j', 'Enter', 'ArrowDown'. */
export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>

export function useKeys(keys: KeyMap, isOn = true): void {
  const latest = useRef(keys)
  useEffect(() => {
    latest.current = keys
  })
  useEffect(() => {
    if (!isOn) return
    const press = (event: KeyboardEvent) => {
      const action = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined
      if (action === undefined || event.defaultPrevented || isElsewhere(event)) return
      event.preventDefault()
      action(event)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [isOn])
}

/** Keys with a meaning of their own there: Enter and space on what is focused, all of them in a field. */
export function isElsewhere(event: KeyboardEvent): boolean {
  if (event.metaKey || event.ctrlKey || event.altKey) return true
  if (document.querySelector('dialog[open]') !== null) return true
  const target = event.target instanceof Element ? event.target : null
  if (target?.closest('input:not([type=checkbox]), textarea, select, [contenteditable], [role=menu]')) return true
  return (event.key === 'Enter' || event.key === ' ') && target?.closest('a, button, summary, input, .plot') != null
}
