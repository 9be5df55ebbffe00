import { useState } from 'react'
import { api } from '../../data/client.ts'
import { refresh } from '../../data/queries.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { toast } from '../../ui/overlay/toasts.tsx'
import { ErrorState } from '../../ui/states.tsx'
import type { JobDialogProps } from './cancel-dialog.tsx'

export async function prioritise(id: string, priority: number): Promise<void> {
  const { before } = await api.jobs.prioritise({ id, priority })
  toast({
    says: `Job ${id} has priority ${priority} now.`,
    onUndo: async () => {
      await api.jobs.prioritise({ id, priority: before })
      await refresh('jobs')
    },
  })
  await refresh('jobs')
}

export function PriorityDialog({ job, isOpen, onClose }: JobDialogProps) {
  const [priority, setPriority] = useState(0)
  const [error, setError] = useState<unknown>(null)
  const change = async () => {
    try {
      await prioritise(job.id, priority)
      onClose()
    } catch (problem) {
      setError(problem)
    }
  }
  return (
    <Dialog
      title={`Priority of job ${job.id}`}
      isOpen={isOpen}
      onClose={onClose}
      end={
        <Button
          variant="primary"
          disabledBecause={priority === job.priority ? 'It has this priority already.' : null}
          onClick={change}
        >
          Prioritise
        </Button>
      }
    >
      <Field label="Priority" hint={`Lower runs first, within its queue and tenant. It is ${job.priority} now.`}>
        <input
          className="inp"
          type="number"
          min={0}
          value={priority}
          onChange={(event) => setPriority(Math.max(0, Math.trunc(event.target.valueAsNumber || 0)))}
        />
      </Field>
      {error !== null && <ErrorState what="The priority was not changed." error={error} />}
    </Dialog>
  )
}
