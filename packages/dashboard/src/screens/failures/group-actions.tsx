// What can be decided about a kind of failure.
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import type { Group } from './groups.ts'

export type Decision = 'redrive' | 'acknowledge' | 'resolve' | 'ignore' | 'note'

export const CANARIES = 5

export interface GroupActionsProps {
  group: Group
  onDecide: (decision: Decision) => void
  /** One button and a menu. */
  isShort?: boolean
}

export function GroupActions({ group, onDecide, isShort = false }: GroupActionsProps) {
  const may = useMay()
  // A viewer sees no button that would answer 403.
  if (!may('bulk.start')) return null
  const { pending, state, fingerprint } = group
  const redriveOff =
    state === 'redriving'
      ? 'A redrive is under way.'
      : fingerprint === null
        ? 'These letters have no fingerprint: decide about them one by one.'
        : null
  const seen = state === 'acknowledged' ? 'All letters of this kind are acknowledged already.' : null
  const label = pending > CANARIES ? `Try ${CANARIES} of ${pending}…` : `Try ${pending}…`
  const others = [
    ['acknowledge', 'Acknowledge', seen],
    ['resolve', 'Resolve…', redriveOff],
    ['ignore', 'Ignore…', redriveOff],
    ['note', 'Add a note…', null],
  ] as const
  if (!isShort) {
    return (
      <div className="acts">
        <Button variant="primary" disabledBecause={redriveOff} onClick={() => onDecide('redrive')}>
          {label} <kbd>c</kbd>
        </Button>
        {others.map(([key, text, reason]) => (
          <Button key={key} disabledBecause={reason} onClick={() => onDecide(key)}>
            {text}
          </Button>
        ))}
      </div>
    )
  }
  return (
    <div className="acts">
      <Button disabledBecause={redriveOff} onClick={() => onDecide('redrive')}>
        {label}
      </Button>
      <Menu
        isRight
        className="btn"
        label=""
        name={`More decisions about ${group.type}`}
        items={others.map(([key, text, reason]) => ({
          ...{ key, label: text, disabledBecause: reason },
          onChoose: () => onDecide(key),
        }))}
      />
    </div>
  )
}
