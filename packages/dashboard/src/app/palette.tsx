// ⌘K: go anywhere, or do something, by typing a part of its name.
import { useEffect, useId, useState } from 'react'
import { Icon } from '../ui/icon.tsx'
import { Dialog } from '../ui/overlay/dialog.tsx'
import { type Entry, useEntries } from './palette-entries.ts'
import { closePalette, openPalette, type PaletteKind, usePaletteKind } from './palette-state.ts'

export function Palette() {
  const kind = usePaletteKind()
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      openPalette()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  return (
    <Dialog title={kind === 'tenant' ? 'Show one tenant' : 'Go to or do'} isOpen={kind !== null} onClose={closePalette}>
      {kind !== null && <Content kind={kind} />}
    </Dialog>
  )
}

function Content({ kind }: { kind: PaletteKind }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const entries = useEntries(text, kind)
  const chosen = Math.min(at, entries.length - 1)
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return
    closePalette()
    entry.run()
  }
  const keys: Record<string, () => void> = {
    ArrowDown: () => setAt((chosen + 1) % entries.length),
    ArrowUp: () => setAt((chosen - 1 + entries.length) % entries.length),
    Enter: () => run(entries[chosen]),
  }
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, chosen])
  return (
    <div className="palette">
      <div className="search">
        <Icon name="search" />
        <input
          // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type here
          autoFocus
          role="combobox"
          aria-label={kind === 'tenant' ? 'Name of a tenant' : 'Screen, queue, type, job id or action'}
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={entries.length > 0 ? `${id}-${chosen}` : undefined}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder={kind === 'tenant' ? 'Name of a tenant' : 'Screen, queue, type, job id, action…'}
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setAt(0)
          }}
          onKeyDown={(event) => {
            const action = entries.length > 0 ? keys[event.key] : undefined
            if (action === undefined) return
            event.preventDefault()
            action()
          }}
        />
      </div>
      <div role="listbox" id={`${id}-list`} aria-label="Choices" className="choices">
        {entries.map((entry, index) => (
          <div
            key={entry.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            className={index === chosen ? 'on' : ''}
            onClick={() => run(entry)}
            onPointerMove={() => setAt(index)}
          >
            <span className="what">{entry.label}</span>
            <span className="note">{entry.about}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p className="note">Nothing is called that.</p>}
    </div>
  )
}
