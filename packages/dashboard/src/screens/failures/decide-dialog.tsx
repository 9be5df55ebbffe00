// A decision about all letters of a kind: what it would do is shown first.
import { useState } from 'react'
import { useTenant } from '../../app/address.ts'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { PreviewDialog } from '../../ui/overlay/preview-dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { counted } from '../../ui/text/format.ts'
import type { Decision } from './group-actions.tsx'
import { type Group, queryOf } from './groups.ts'
import { progressOf } from './operations.ts'
import { RedriveDialog } from './redrive-dialog.tsx'

export interface DecideDialogProps {
  group: Group
  decision: Decision
  onClose: () => void
}

export function DecideDialog(props: DecideDialogProps) {
  switch (props.decision) {
    case 'redrive':
      return <RedriveDialog {...props} />
    case 'note':
      return <NoteDialog {...props} />
    case 'acknowledge':
      return <AcknowledgeDialog {...props} />
    default:
      return <CloseDialog {...props} decision={props.decision} />
  }
}

const NOUN = { resolve: 'Resolve', ignore: 'Ignore' }
const MEANS = {
  resolve: 'The matter is settled in another way. The letters are forgotten after seven days.',
  ignore: 'They are not worth a decision. The letters are forgotten after seven days.',
}

function CloseDialog({ group, decision, onClose }: DecideDialogProps & { decision: 'resolve' | 'ignore' }) {
  const tenant = useTenant()
  const [note, setNote] = useState('')
  const request = { action: decision, query: queryOf(group), ...(tenant && { tenant }) }
  return (
    <PreviewDialog
      isOpen
      onClose={() => {
        onClose()
        refresh('deadLetters', 'bulk')
      }}
      title={`${NOUN[decision]} ${counted(group.pending, 'letter')} of ${group.type}`}
      verb={NOUN[decision]}
      noun="letter"
      done={decision === 'resolve' ? 'resolved' : 'ignored'}
      preview={() => api.bulk.preview(request)}
      onRun={async () => (await api.bulk.start({ ...request, ...(note !== '' && { note }) })).id}
      follow={async (id) => progressOf(await api.bulk.get({ id }))}
      onStop={(id) => api.bulk.cancel({ id })}
    >
      <p className="dim">{MEANS[decision]}</p>
      <Field label="Note" hint="Others will ask why.">
        <input value={note} maxLength={1_000} onChange={(event) => setNote(event.target.value)} />
      </Field>
    </PreviewDialog>
  )
}

/** As many as the API takes at once. */
const PAGE = 1_000

async function pendingIds(group: Group, tenant: string | undefined, isUnseen: boolean): Promise<string[]> {
  const { letters } = await api.deadLetters.list({
    ...{ status: 'pending', type: group.type, limit: PAGE },
    ...(group.fingerprint !== null && { fingerprint: group.fingerprint }),
    ...(isUnseen && { acknowledged: 'false' }),
    ...(tenant && { tenant }),
  })
  return letters.map(({ id }) => id)
}

function AcknowledgeDialog({ group, onClose }: DecideDialogProps) {
  const tenant = useTenant()
  return (
    <PreviewDialog
      isOpen
      onClose={onClose}
      title={`Acknowledge ${group.type}`}
      verb="Acknowledge"
      noun="letter"
      done="acknowledged"
      preview={async () => {
        const ids = await pendingIds(group, tenant, true)
        const already = Math.max(0, group.pending - ids.length)
        const reason = 'somebody has acknowledged them'
        return {
          ...{ willChange: ids.length, already, refused: 0, isCapped: ids.length === PAGE },
          reasons: already > 0 && ids.length < PAGE ? [{ outcome: 'already', reason, count: already }] : [],
          noUndo: 'but the letters stay pending, and you can still redrive them',
        }
      }}
      onRun={async () => {
        let done = 0
        for (
          let ids = await pendingIds(group, tenant, true);
          ids.length > 0;
          ids = await pendingIds(group, tenant, true)
        ) {
          await api.deadLetters.acknowledge({ ids })
          done += ids.length
          if (ids.length < PAGE) break
        }
        toast({ says: `${counted(done, 'letter')} of ${group.type} ${done === 1 ? 'is' : 'are'} acknowledged.` })
        await refresh('deadLetters')
        return undefined
      }}
    >
      <p className="dim">You look after them: they stay pending, and are not redriven by themselves any more.</p>
    </PreviewDialog>
  )
}

function NoteDialog({ group, onClose }: DecideDialogProps) {
  const tenant = useTenant()
  const [note, setNote] = useState('')
  const [error, setError] = useState<unknown>(null)
  const save = async () => {
    try {
      const ids = await pendingIds(group, tenant, false)
      await api.deadLetters.note({ ids, note })
      toast({ says: `The note stands at ${counted(ids.length, 'letter')}.` })
      await refresh('deadLetters')
      onClose()
    } catch (problem) {
      setError(problem)
    }
  }
  return (
    <Dialog
      isOpen
      title={`Note at ${group.type}`}
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" onClick={save} disabledBecause={note.trim() === '' ? 'The note is empty.' : null}>
            Add the note
          </Button>
        </>
      }
    >
      {error !== null && <ErrorState what="The note was not added." error={error} />}
      <Field
        label="Note"
        hint="It is added to the pending letters of this kind, at most the newest thousand, with your name and the time."
      >
        <textarea value={note} maxLength={4_000} onChange={(event) => setNote(event.target.value)} />
      </Field>
    </Dialog>
  )
}
