// Searches that are kept in this browser under a name.
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'

interface View {
  readonly name: string
  readonly q: string
}

const KEY = 'millrace.views'

/** Everybody has these. */
const OURS: readonly View[] = [
  { name: 'Dead in the last day', q: 'status:dead finished:>-24h' },
  { name: 'Waiting for more than five minutes', q: 'status:pending waited:>5m' },
  { name: 'Running for more than a minute', q: 'status:processing took:>1m' },
  { name: 'Tried more than once', q: 'status:failed attempt:>1' },
]

function stored(): readonly View[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(read) ? read.filter(isView) : []
  } catch {
    return []
  }
}

const isView = (value: unknown): value is View =>
  typeof value === 'object' && value !== null && 'name' in value && 'q' in value && typeof value.q === 'string'

export function SavedViews({ q, onSearch }: { q: string; onSearch: (q: string) => void }) {
  const [own, setOwn] = useState(stored)
  const [isNaming, setNaming] = useState(false)
  const change = (next: readonly View[]) => {
    setOwn(next)
    try {
      localStorage.setItem(KEY, JSON.stringify(next))
    } catch {
      toast({ says: 'This browser keeps nothing for this page, so the view is gone after a reload.', tone: 'late' })
    }
  }
  const here = own.find((view) => view.q === q)
  const item = ({ name, q: text }: View) => ({
    key: `${name} ${text}`,
    label: name,
    isChosen: text === q,
    onChoose: () => onSearch(text),
  })
  return (
    <>
      <Menu
        label="Views"
        isRight
        items={[
          ...own.map(item),
          ...OURS.map(item),
          here === undefined
            ? {
                key: 'save',
                label: 'Save this search…',
                onChoose: () => setNaming(true),
                disabledBecause: q === '' ? 'There is nothing to save: search first.' : null,
              }
            : {
                key: 'forget',
                label: `Forget “${here.name}”`,
                onChoose: () => {
                  change(own.filter((view) => view !== here))
                  toast({ says: `The view “${here.name}” is forgotten.`, onUndo: () => change(own) })
                },
              },
        ]}
      />
      <NameDialog
        isOpen={isNaming}
        onClose={() => setNaming(false)}
        onName={(name) => {
          change([...own.filter((view) => view.name !== name), { name, q }])
          toast({ says: `The view “${name}” is saved in this browser.` })
        }}
      />
    </>
  )
}

function NameDialog({
  isOpen,
  onClose,
  onName,
}: {
  isOpen: boolean
  onClose: () => void
  onName: (name: string) => void
}) {
  const [name, setName] = useState('')
  const save = () => {
    onName(name.trim())
    setName('')
    onClose()
  }
  return (
    <Dialog
      title="Save this search"
      isOpen={isOpen}
      onClose={onClose}
      end={
        <Button variant="primary" disabledBecause={name.trim() === '' ? 'It needs a name.' : null} onClick={save}>
          Save
        </Button>
      }
    >
      <Field label="Name" hint="It is kept in this browser. To share it, share the address.">
        <input
          className="inp"
          value={name}
          onChange={(event) => setName(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && name.trim() !== '' && save()}
        />
      </Field>
    </Dialog>
  )
}
