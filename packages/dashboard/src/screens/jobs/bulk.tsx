// Changes to many jobs: chosen rows, or all that fit the search. Preview, start, follow, stop, take back.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Menu } from '../../ui/overlay/menu.tsx'
import type { Progress } from '../../ui/overlay/operation-progress.tsx'
import { PreviewDialog } from '../../ui/overlay/preview-dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { counted } from '../../ui/text/format.ts'

/** These jobs, or all that fit a query. */
export type Target = { readonly ids: readonly string[] } | { readonly query: string }

export type Action = 'retry' | 'cancel' | 'prioritise' | 'fail'

const ACTIONS: Record<Action, { label: string; title: string; verb: string; isDangerous?: boolean }> = {
  retry: { label: 'Try again', title: 'Try jobs again', verb: 'Try again' },
  prioritise: { label: 'Prioritise…', title: 'Give jobs another priority', verb: 'Prioritise' },
  cancel: { label: 'Cancel…', title: 'Cancel jobs', verb: 'Cancel', isDangerous: true },
  fail: { label: 'Fail…', title: 'Fail an attempt of jobs', verb: 'Fail', isDangerous: true },
}

interface BulkProps {
  target: Target
  tenant: string | undefined
  onDone: () => void
}

/** What can be done with the chosen rows. */
export function SelectionBar({ target, tenant, onDone, count }: BulkProps & { count: number }) {
  const [action, setAction] = useState<Action | null>(null)
  return (
    <div className="selection" role="region" aria-label="Selected jobs">
      <b>{counted(count, 'job')} selected</b>
      {(['retry', 'prioritise', 'cancel', 'fail'] as const).map((each) => (
        <Button key={each} variant={ACTIONS[each].isDangerous ? 'danger' : 'plain'} onClick={() => setAction(each)}>
          {ACTIONS[each].label}
        </Button>
      ))}
      <Button variant="quiet" onClick={onDone}>
        Clear <kbd>Esc</kbd>
      </Button>
      <BulkDialog {...{ action, target, tenant, onDone }} onClose={() => setAction(null)} />
    </div>
  )
}

/** What can be done with everything that fits the search. */
export function ActOnAll({ q, tenant, onDone }: { q: string; tenant: string | undefined; onDone: () => void }) {
  const [action, setAction] = useState<Action | null>(null)
  const may = useMay()
  if (!may('bulk.start')) return null
  const why = q === '' ? 'A search first: without one it would concern every job.' : null
  return (
    <>
      <Menu
        isRight
        label="Act on all…"
        items={(['retry', 'prioritise', 'cancel', 'fail'] as const).map((each) => ({
          key: each,
          label: `${ACTIONS[each].label.replace(/…$/, '')} all that fit`,
          onChoose: () => setAction(each),
          disabledBecause: why,
        }))}
      />
      <BulkDialog {...{ action, tenant, onDone }} target={{ query: q }} onClose={() => setAction(null)} />
    </>
  )
}

interface BulkDialogProps extends BulkProps {
  action: Action | null
  onClose: () => void
}

function BulkDialog({ action, ...rest }: BulkDialogProps) {
  return action === null ? null : <OpenBulk action={action} {...rest} />
}

function OpenBulk({ action, target, tenant, onDone, onClose }: BulkProps & { action: Action; onClose: () => void }) {
  const { title, verb, isDangerous = false } = ACTIONS[action]
  const [priority, setPriority] = useState(0)
  const [reason, setReason] = useState('')
  const [rate, setRate] = useState(200)
  const [hasRun, setHasRun] = useState(false)
  const needsReason = action === 'fail' && reason.trim() === ''
  const request = {
    action,
    ...('ids' in target ? { ids: [...target.ids] } : { query: target.query }),
    ...(tenant !== undefined && { tenant }),
    ...(action === 'prioritise' && { priority }),
    ...((action === 'cancel' || action === 'fail') && reason.trim() !== '' && { reason: reason.trim() }),
    // The preview counts the same whatever the reason.
    ...(needsReason && { reason: 'preview' }),
  }
  const close = () => {
    onClose()
    // Not before: the bar of the chosen rows, in which this dialog is, would go with them.
    if (hasRun) onDone()
    void refresh('jobs', 'queues', 'bulk')
  }
  const run = async () => {
    if (needsReason) throw new Error('A reason is needed: it becomes the error of the attempt, and others will ask.')
    const { id } = await api.bulk.start({ ...request, rate })
    setHasRun(true)
    return id
  }
  const undo = async (id: string) => {
    const { id: other } = await api.bulk.undo({ id })
    toast({ says: `The priorities are being given back (operation ${other}).` })
  }
  return (
    <PreviewDialog
      isOpen
      onClose={close}
      title={title}
      verb={verb}
      noun="job"
      isDangerous={isDangerous}
      previewKey={action === 'prioritise' ? String(priority) : action}
      preview={() => api.bulk.preview(request)}
      onRun={run}
      follow={progressOf}
      onStop={(id) => api.bulk.cancel({ id })}
      onUndo={undo}
    >
      {action === 'prioritise' && (
        <Field label="Priority" hint="Lower runs first.">
          <input
            className="inp"
            type="number"
            min={0}
            value={priority}
            onChange={(event) => setPriority(Math.max(0, Math.trunc(event.target.valueAsNumber || 0)))}
          />
        </Field>
      )}
      {(action === 'cancel' || action === 'fail') && (
        <Field label={action === 'fail' ? 'Reason (needed)' : 'Reason'} hint="Others will ask.">
          <input className="inp" value={reason} onChange={(event) => setReason(event.target.value)} />
        </Field>
      )}
      <Field label="Jobs per second, at most" hint="A slow start spares the services behind the jobs.">
        <input
          className="inp"
          type="number"
          min={1}
          max={5000}
          value={rate}
          onChange={(event) => setRate(Math.min(5_000, Math.max(1, Math.trunc(event.target.valueAsNumber || 1))))}
        />
      </Field>
    </PreviewDialog>
  )
}

async function progressOf(id: string): Promise<Progress> {
  const { status, changed, already, refused, expected, error, waits } = await api.bulk.get({ id })
  const failure = status === 'failed' ? (error ?? 'It failed.') : status === 'cancelled' ? 'It was stopped.' : null
  return { changed, already, refused, expected, isOver: status !== 'running', failure, waits }
}
