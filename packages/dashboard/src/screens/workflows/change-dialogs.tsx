// Cancel and roll back: with what would come of it.
import { useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { counted } from '../../ui/text/format.ts'
import { rollbackOf } from './rollback.ts'
import type { Step, WorkflowDetails } from './workflow-data.ts'

export interface WorkflowDialogProps {
  workflow: WorkflowDetails
  isOpen: boolean
  onClose: () => void
}

/** Does it, says so and closes; what goes wrong is shown. */
export function useChange(change: () => Promise<unknown>, { says, onClose }: { says: string; onClose: () => void }) {
  const [error, setError] = useState<unknown>(null)
  const run = async () => {
    try {
      await change()
      toast({ says })
      onClose()
      await refresh('workflows')
    } catch (problem) {
      setError(problem)
    }
  }
  return { error, run }
}

export function RollBackDialog({ workflow, isOpen, onClose }: WorkflowDialogProps) {
  const { id, steps } = workflow
  const { error, run } = useChange(() => api.workflows.rollBack({ id }), {
    says: `Workflow ${id} is rolling back.`,
    onClose,
  })
  return (
    <Dialog
      title={`Roll workflow ${id} back?`}
      isOpen={isOpen}
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button variant="danger" onClick={run}>
            Roll it back
          </Button>
        </>
      }
    >
      <Undone steps={steps} />
      {error !== null && <ErrorState what="It was not rolled back." error={error} />}
    </Dialog>
  )
}

export function CancelDialog({ workflow, isOpen, onClose }: WorkflowDialogProps) {
  const { id, steps, resumes } = workflow
  const [reason, setReason] = useState('')
  const given = reason.trim()
  const { error, run } = useChange(() => api.workflows.cancel({ id, ...(given && { reason: given }) }), {
    says: resumes ? `Workflow ${id} is rolled back after all.` : `Workflow ${id} is cancelled.`,
    onClose,
  })
  const running = steps.reduce((sum, step) => sum + (step.status === 'running' ? step.running : 0), 0)
  const waiting = steps.filter(({ status }) => status === 'waiting').length
  return (
    <Dialog
      title={resumes ? `Roll workflow ${id} back after all?` : `Cancel workflow ${id}?`}
      isOpen={isOpen}
      onClose={onClose}
      end={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button variant="danger" onClick={run}>
            {resumes ? 'Roll it back' : 'Cancel the workflow'}
          </Button>
        </>
      }
    >
      {!resumes && (
        <p>
          {counted(running, 'job')} that {running === 1 ? 'waits or runs is' : 'wait or run are'} asked to stop, and{' '}
          {counted(waiting, 'step')} will not start.
        </p>
      )}
      <Undone steps={steps} />
      <Field label="Reason" hint="Others will ask.">
        <input className="inp" value={reason} onChange={(event) => setReason(event.target.value)} />
      </Field>
      {error !== null && <ErrorState what="It was not cancelled." error={error} />}
    </Dialog>
  )
}

/** Which steps are undone, in their order. */
function Undone({ steps }: { steps: readonly Step[] }) {
  const { next } = rollbackOf(steps)
  if (next.length === 0) return <p>Nothing is undone: no step that has completed can be.</p>
  return (
    <>
      <p>One step at a time is undone, the one that completed last first. What the others did stays.</p>
      <ol className="wf-order">
        {next.map(({ name, kind, completed }) => (
          <li key={name}>
            <b>{name}</b> <span className="dim">{kind === 'workflow' ? 'a workflow' : counted(completed, 'job')}</span>
          </li>
        ))}
      </ol>
    </>
  )
}
