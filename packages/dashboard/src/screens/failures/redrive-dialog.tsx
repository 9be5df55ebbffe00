// A redrive with a canary: five different tenants first, a stop at the first death, then the rest at a rate.
import { useState } from 'react'
import { useTenant } from '../../app/address.ts'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { CommandLine } from '../../ui/code-block.tsx'
import { useGo } from '../../ui/link.tsx'
import { PreviewDialog } from '../../ui/overlay/preview-dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { counted } from '../../ui/text/format.ts'
import { CANARIES } from './group-actions.tsx'
import { pathOf } from './group-table.tsx'
import { type Group, queryOf } from './groups.ts'

export const USUAL_RATE = 20
const MOST_RATE = 5_000

export function RedriveDialog({ group, onClose }: { group: Group; onClose: () => void }) {
  const tenant = useTenant()
  const { go } = useGo()
  const [isCanary, setCanary] = useState(true)
  const [rate, setRate] = useState(USUAL_RATE)
  const request = { action: 'redrive' as const, query: queryOf(group), ...(tenant && { tenant }) }
  const canary = isCanary && group.pending > 1 ? { canary: Math.min(CANARIES, group.pending) } : {}
  return (
    <PreviewDialog
      isOpen
      onClose={onClose}
      title={`Redrive ${counted(group.pending, 'letter')} of ${group.type}`}
      verb="Redrive"
      noun="letter"
      done="redriven"
      preview={() => api.bulk.preview(request)}
      onRun={async () => {
        await api.bulk.start({ ...request, ...canary, rate: Math.min(MOST_RATE, Math.max(1, rate)) })
        await refresh('bulk', 'deadLetters')
        toast({ says: `The redrive of ${group.type} has begun.`, tone: 'info' })
        go(pathOf(group))
        return undefined
      }}
    >
      <p className="dim">Each letter gets a new job of the same work. It is tried as often as the first one was.</p>
      <label className="choice">
        <input type="checkbox" checked={isCanary} onChange={(event) => setCanary(event.target.checked)} />
        <span>
          Try {Math.min(CANARIES, group.pending)} first, of different tenants
          <small className="note"> If one of them dies, the redrive stops and the others stay as they are.</small>
        </span>
      </label>
      <label className="inline">
        then at
        <input
          type="number"
          min={1}
          max={MOST_RATE}
          value={rate}
          onChange={(event) => setRate(Math.round(event.target.valueAsNumber) || 1)}
        />
        per second
      </label>
      <CommandLine command={commandOf(group, isCanary, rate)} />
    </PreviewDialog>
  )
}

export function commandOf(
  { fingerprint, type }: Pick<Group, 'fingerprint' | 'type'>,
  isCanary: boolean,
  rate: number,
): string {
  return `millrace dead redrive --fingerprint ${fingerprint} --type ${type}${isCanary ? ' --canary' : ''} --rate ${rate}/s`
}
