// Forgets letters that were resolved or ignored.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { PreviewCounts } from '../../ui/overlay/preview-counts.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { counted } from '../../ui/text/format.ts'

const DAY_MS = 86_400_000
/** So many of each decision are looked at for the preview. */
const PAGE = 1_000

/** How many letters were resolved or ignored so long ago. */
async function countOlder(days: number): Promise<{ count: number; isCapped: boolean }> {
  const pages = await Promise.all(
    (['resolved', 'ignored'] as const).map((status) => api.deadLetters.list({ status, limit: PAGE })),
  )
  const limit = Date.now() - days * DAY_MS
  const old = pages
    .flatMap(({ letters }) => letters)
    .filter(({ acknowledgedAt }) => acknowledgedAt && +new Date(acknowledgedAt) < limit)
  return { count: old.length, isCapped: pages.some(({ next }) => next !== null) }
}

export function PruneDialog({ onClose }: { onClose: () => void }) {
  const [days, setDays] = useState(1)
  const [error, setError] = useState<unknown>(null)
  const isValid = Number.isInteger(days) && days >= 0
  const preview = useQuery({ queryKey: ['prune', days], queryFn: () => countOlder(days), enabled: isValid })
  const prune = async () => {
    try {
      const { pruned, isComplete } = await api.deadLetters.prune({ olderThan: `${days}d` })
      toast({
        says: `${counted(pruned, 'letter')} ${pruned === 1 ? 'is' : 'are'} forgotten.${isComplete ? '' : ' There are more: prune again.'}`,
      })
      await refresh('deadLetters')
      onClose()
    } catch (problem) {
      setError(problem)
    }
  }
  const reason = !isValid
    ? 'Type a whole number of days.'
    : preview.data?.count === 0 && !preview.data.isCapped
      ? 'No letter is that old.'
      : null
  return (
    <Dialog
      isOpen
      title="Forget letters that were decided about"
      onClose={onClose}
      end={
        <>
          {reason && <span className="why-not">{reason}</span>}
          <Button onClick={onClose}>Keep them</Button>
          <Button variant="danger" onClick={prune} disabledBecause={reason}>
            Forget them
          </Button>
        </>
      }
    >
      <p className="dim">
        Letters that were resolved or ignored are forgotten by themselves after seven days. Pending and redriven ones
        stay, whatever you choose.
      </p>
      <Field label="Decided about more than so many days ago">
        <input
          type="number"
          min={0}
          value={Number.isNaN(days) ? '' : days}
          onChange={(event) => setDays(event.target.valueAsNumber)}
        />
      </Field>
      {error !== null && <ErrorState what="Nothing was forgotten." error={error} />}
      {preview.data && (
        <PreviewCounts
          noun="letter"
          done="forgotten"
          preview={{
            ...{ willChange: preview.data.count, already: 0, refused: 0, reasons: [], isCapped: preview.data.isCapped },
            noUndo: 'what is forgotten is gone',
          }}
        />
      )}
    </Dialog>
  )
}
