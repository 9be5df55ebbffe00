// Another limit: from now on, or for this period alone. First it says what that brings.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { formatPercent } from '../../ui/text/format.ts'
import { type Budget, formatAmount, scaleOf, shownUnit } from './amounts.ts'

interface AdjustBudgetProps {
  budget: Budget
  isOpen: boolean
  onClose: () => void
}

export const AdjustBudget = (props: AdjustBudgetProps) => (props.isOpen ? <OpenAdjust {...props} /> : null)

function OpenAdjust({ budget, onClose }: AdjustBudgetProps) {
  const { budget: name, unit, limit, limitFrom, used, period } = budget
  const scale = scaleOf(unit)
  const [typed, setTyped] = useState(String(limit / scale))
  const [scope, setScope] = useState<'always' | 'period'>('period')
  const [failure, setFailure] = useState<unknown>(null)
  const wanted = Math.round(Number(typed) * scale)
  const wrong = typed.trim() === '' || !Number.isFinite(wanted) || wanted < 0 ? 'Expected a number, 0 or more.' : null
  const isOperators = limitFrom === 'period' || limitFrom === 'setting'
  const set = async (next: number | null) => {
    const where = scope === 'period' || limitFrom === 'period' ? { period: 'current' } : {}
    try {
      await api.budgets.adjust({
        budget: name,
        limit: next,
        ...(next === null ? { ...(limitFrom === 'period' && { period: 'current' }) } : where),
      })
    } catch (error) {
      return setFailure(error)
    }
    await refresh('budgets')
    toast({ says: `${name} has another limit. Jobs that waited for it are looked at again.`, tone: 'ok' })
    onClose()
  }
  return (
    <Dialog
      isOpen
      title={`Change the limit of ${name}`}
      onClose={onClose}
      end={
        <>
          {isOperators && <Button onClick={() => set(null)}>Back to the code's limit</Button>}
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button
            variant="primary"
            disabledBecause={wrong ?? (wanted === limit ? 'That is the limit now.' : null)}
            onClick={() => set(wanted)}
          >
            Set the limit
          </Button>
        </>
      }
    >
      <Field label={`Limit in ${shownUnit(unit)}`} wrong={wrong}>
        <input inputMode="decimal" value={typed} onChange={(event) => setTyped(event.target.value)} />
      </Field>
      <Field label="For">
        <select value={scope} onChange={(event) => setScope(event.target.value as 'always' | 'period')}>
          <option value="period">{period} only</option>
          <option value="always">from now on</option>
        </select>
      </Field>
      {wrong === null && (
        <p>
          {formatAmount(used, unit)} is used: that would be{' '}
          <b>{wanted === 0 ? 'all of it' : formatPercent(used / wanted)}</b> of the new limit instead of{' '}
          {limit === 0 ? 'all of it' : formatPercent(used / limit)}. {consequence(wanted === 0 ? 1 : used / wanted)}
        </p>
      )}
      {failure !== null && <ErrorState what="The limit was not changed." error={failure} />}
    </Dialog>
  )
}

function consequence(share: number): string {
  if (share >= 1) return 'Its jobs would be cancelled.'
  if (share >= 0.9) return 'Its jobs would wait for the next full hour.'
  if (share >= 0.75) return 'Its jobs would take smaller bites.'
  return 'Its jobs would run at full speed.'
}
