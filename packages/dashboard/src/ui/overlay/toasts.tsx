// What has just happened, for some seconds, with a way back where there is one.
import { useEffect, useState, useSyncExternalStore } from 'react'
import { Button } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { iconOf, type Tone } from '../tone.ts'

export interface ToastMessage {
  /** "41 letters were acknowledged." */
  readonly says: string
  readonly tone?: Tone
  /** Takes it back. */
  readonly onUndo?: () => unknown
}

interface Entry extends ToastMessage {
  readonly id: number
}

const STAYS_MS = 7_000
const listeners = new Set<() => void>()
let entries: readonly Entry[] = []
let lastId = 0

function change(next: readonly Entry[]): void {
  entries = next
  for (const listener of listeners) listener()
}

/** Shows a message. At most three are shown. */
export function toast(message: ToastMessage): void {
  lastId += 1
  change([...entries, { ...message, id: lastId }].slice(-3))
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Once, around the whole app. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => entries)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((entry) => (
        <Toast key={entry.id} entry={entry} />
      ))}
    </div>
  )
}

function Toast({ entry }: { entry: Entry }) {
  const { id, says, tone = 'ok', onUndo } = entry
  const [isHeld, setHeld] = useState(false)
  const drop = () => change(entries.filter((each) => each.id !== id))
  // biome-ignore lint/correctness/useExhaustiveDependencies: the timer belongs to this toast
  useEffect(() => {
    // A failure stays until it has been read.
    if (isHeld || tone === 'fail') return
    const timer = setTimeout(drop, STAYS_MS)
    return () => clearTimeout(timer)
  }, [isHeld, tone])
  const undo = async () => {
    drop()
    await onUndo?.()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the pointer only holds the timer
    <div
      className={`toast ${tone}`}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon name={iconOf(tone)} />
      <span>{says}</span>
      {onUndo ? (
        <Button size="sm" onClick={undo}>
          Undo
        </Button>
      ) : (
        <span />
      )}
      <Button size="sm" variant="quiet" aria-label="Dismiss" onClick={drop}>
        <Icon name="close" />
      </Button>
    </div>
  )
}
