import { useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/states.tsx'
import type { JobDetails } from './actions.tsx'

export interface JobDialogProps {
  job: JobDetails
  isOpen: boolean
  onClose: () => void
}

export function CancelDialog({ job, isOpen, onClose }: JobDialogProps) {
  const [reason, setReason] = useState('')
  const [error, setError] = useState<unknown>(null)
  const cancel = async () => {
    try {
      const { status } = await api.jobs.cancel({ id: job.id, ...(reason.trim() && { reason: reason.trim() }) })
      toast({
        says:
          status === 'cancelled' ? `Job ${job.id} is cancelled.` : `The worker of job ${job.id} is asked to stop it.`,
      })
      onClose()
      await refresh('jobs', 'queues')
    } catch (problem) {
      setError(problem)
    }
  }
  return (
    <Dialog
      title={`Cancel job ${job.id}?`}
      isOpen={isOpen}
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button variant="danger" onClick={cancel}>
            Cancel the job
          </Button>
        </>
      }
    >
      <p>
        {job.status === 'processing'
          ? 'It runs at this moment: its worker is asked to stop, and the handler decides how. What it has done stays done.'
          : 'It will not run. It cannot be taken back: a new job would have to be enqueued.'}
        {job.workflowId !== null && ' Its workflow goes on without it, or fails, as its definition says.'}
      </p>
      <Field label="Reason" hint="Others will ask.">
        <input className="inp" value={reason} onChange={(event) => setReason(event.target.value)} />
      </Field>
      {error !== null && <ErrorState what="It was not cancelled." error={error} />}
    </Dialog>
  )
}
