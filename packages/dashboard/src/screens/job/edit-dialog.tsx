// A dead job is tried again with another payload.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { useGo } from '../../ui/link.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/states.tsx'
import type { JobDialogProps } from './cancel-dialog.tsx'
import { PayloadChanges } from './payload-changes.tsx'

export function EditDialog(props: JobDialogProps) {
  return props.isOpen ? <OpenEdit {...props} /> : null
}

function OpenEdit({ job, onClose }: JobDialogProps) {
  const { go } = useGo()
  const [text, setText] = useState(() => JSON.stringify(job.payload, null, 2))
  const [error, setError] = useState<unknown>(null)
  const { payload, wrong } = readJson(text)
  const send = async () => {
    setError(null)
    try {
      const answer = await api.jobs.retry({ id: job.id, payload })
      const id = answer.status === 'redriven' ? answer.jobId : job.id
      toast({ says: `Job ${job.id} is tried again as job ${id}, with the payload as you edited it.` })
      onClose()
      await refresh('jobs', 'deadLetters', 'queues')
      go(`/jobs/${id}`)
    } catch (problem) {
      setError(problem)
    }
  }
  return (
    <Dialog
      isWide
      isOpen
      title={`Edit the payload of job ${job.id}, and try again`}
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button variant="primary" disabledBecause={wrong} onClick={send}>
            Try again with this payload
          </Button>
        </>
      }
    >
      <Field label="Payload" wrong={wrong} hint="The contract of its type is checked before anything is enqueued.">
        <textarea
          className="edit"
          rows={Math.min(22, text.split('\n').length + 1)}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      {wrong === null && <PayloadChanges before={job.payload} after={payload} />}
      {error !== null && <ErrorState what="It was not enqueued." error={error} />}
    </Dialog>
  )
}

function readJson(text: string): { payload: unknown; wrong: string | null } {
  try {
    return { payload: JSON.parse(text), wrong: null }
  } catch (error) {
    return { payload: undefined, wrong: `This is no JSON: ${error instanceof Error ? error.message : String(error)}.` }
  }
}
