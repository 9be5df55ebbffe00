// Keys that work on every screen, and the help that names them all.
import { useEffect, useRef, useState } from 'react'
import { useMay } from '../data/session.tsx'
import type { KeyHint } from '../ui/key-hints.tsx'
import { isElsewhere } from '../ui/keys.ts'
import { useGo } from '../ui/link.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { useShownHints } from './key-hints.ts'
import { readAgain, togglePause } from './live-badge.tsx'
import { openPalette } from './palette-state.ts'
import { screens } from './screens.ts'

/** The second key must follow the g within this time. */
const TOGETHER_MS = 1_500

export function GlobalKeys() {
  const may = useMay()
  const { go } = useGo()
  const [isHelp, setHelp] = useState(false)
  const act = useRef<(key: string) => boolean>(() => false)
  useEffect(() => {
    const single: Record<string, () => unknown> = {
      '/': focusSearch,
      r: readAgain,
      P: togglePause,
      '?': () => setHelp(true),
    }
    act.current = (key) => {
      if (key.startsWith('g ')) {
        const screen = screens.find((each) => `g ${each.key}` === key && may(each.needs))
        if (screen !== undefined) go(screen.path)
        return screen !== undefined
      }
      if (!Object.hasOwn(single, key)) return false
      single[key]?.()
      return true
    }
  })
  useEffect(() => listen((key) => act.current(key)), [])
  return <KeyHelp isOpen={isHelp} onClose={() => setHelp(false)} />
}

/** After a g, a letter means a screen, whatever the screen that is shown does with it; a screen's own keys come before ours. */
function listen(act: (key: string) => boolean): () => void {
  let gAt = Number.NEGATIVE_INFINITY
  const first = (event: KeyboardEvent) => {
    const isSecond = performance.now() - gAt < TOGETHER_MS
    gAt = Number.NEGATIVE_INFINITY
    if (isElsewhere(event)) return
    if (isSecond && act(`g ${event.key}`)) {
      event.preventDefault()
      event.stopImmediatePropagation()
    } else if (event.key === 'g') gAt = performance.now()
  }
  const last = (event: KeyboardEvent) => {
    if (!event.defaultPrevented && !isElsewhere(event) && act(event.key)) event.preventDefault()
  }
  window.addEventListener('keydown', first, true)
  window.addEventListener('keydown', last)
  return () => {
    window.removeEventListener('keydown', first, true)
    window.removeEventListener('keydown', last)
  }
}

/** The search of the screen, else the palette. */
function focusSearch(): void {
  const field = document.querySelector<HTMLElement>('main [data-search]')
  if (field === null) openPalette()
  else field.focus()
}

export const COMMON_HINTS: readonly KeyHint[] = [
  { keys: '/', does: 'search' },
  { keys: 'g', does: 'go to…' },
  { keys: 'r', does: 'read again' },
]

function KeyHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const own = useShownHints()
  const may = useMay()
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose}>
      {own.length > 0 && <Keys title="On this screen" hints={own} />}
      <Keys
        title="Everywhere"
        hints={[
          { keys: '/', does: 'Search' },
          { keys: '⌘K', does: 'Go to or do anything, by its name (Ctrl K)' },
          { keys: 'r', does: 'Read everything again' },
          { keys: 'P', does: 'Pause live updates, or go on' },
          { keys: '?', does: 'This help' },
        ]}
      />
      <Keys
        title="Go to"
        hints={screens.filter(({ needs }) => may(needs)).map(({ key, title }) => ({ keys: `g ${key}`, does: title }))}
      />
    </Dialog>
  )
}

const Keys = ({ title, hints }: { title: string; hints: readonly KeyHint[] }) => (
  <section>
    <h3>{title}</h3>
    <dl className="key-list">
      {hints.map(({ keys, does }) => (
        <div key={keys}>
          <dt>
            {keys.split(' ').map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </section>
)
