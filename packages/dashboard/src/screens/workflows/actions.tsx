// What can be done with one workflow. What would change nothing stays visible and says why.
import { useState } from 'react'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { useKeys } from '../../ui/keys.ts'
import { CancelDialog, RollBackDialog } from './change-dialogs.tsx'
import { ResumeDialog } from './resume-dialog.tsx'
import { hasEnded, type Times, type WorkflowDetails } from './workflow-data.ts'

export function WorkflowActions({ workflow, times }: { workflow: WorkflowDetails; times: readonly Times[] }) {
  const may = useMay()
  const [open, setOpen] = useState<'resume' | 'cancel' | 'roll back' | null>(null)
  const why = reasonsAgainst(workflow)
  useKeys(
    {
      r: () => why.resume === null && setOpen('resume'),
      c: () => why.cancel === null && setOpen('cancel'),
    },
    may('workflows.resume'),
  )
  if (!may('workflows.resume')) return null
  const close = () => setOpen(null)
  const isBanner = workflow.status === 'rolling back' && why.resume === null
  return (
    <>
      <div className="acts" role="group" aria-label="Actions on this workflow">
        {!isBanner && (
          <Button
            variant={why.resume === null ? 'primary' : 'plain'}
            disabledBecause={why.resume}
            onClick={() => setOpen('resume')}
          >
            Resume… <kbd>r</kbd>
          </Button>
        )}
        <Button disabledBecause={why.rollBack} onClick={() => setOpen('roll back')}>
          Roll back…
        </Button>
        <Button variant="danger" disabledBecause={why.cancel} onClick={() => setOpen('cancel')}>
          {workflow.resumes ? 'Roll back after all…' : 'Cancel…'} <kbd>c</kbd>
        </Button>
      </div>
      <ResumeDialog workflow={workflow} times={times} isOpen={open === 'resume'} onClose={close} />
      <RollBackDialog workflow={workflow} isOpen={open === 'roll back'} onClose={close} />
      <CancelDialog workflow={workflow} isOpen={open === 'cancel'} onClose={close} />
    </>
  )
}

/** Why it would change nothing; null: it would. */
function reasonsAgainst(workflow: WorkflowDetails) {
  const { status, stopping, resumes, parentId } = workflow
  const part = parentId === null ? null : `It is a step of workflow ${parentId}: decide about that one.`
  const ended = hasEnded(workflow) ? `The workflow is ${status} already.` : null
  const canResume = ['failed', 'cancelled', 'rollback failed', 'rolling back'].includes(status)
  const over = status === 'rolled back' ? 'What it had done was undone: start it anew.' : 'There is nothing to resume.'
  return {
    resume: part ?? (resumes ? 'It was resumed before, and goes on when the undo has ended.' : canResume ? null : over),
    rollBack:
      part ?? (status === 'failed' ? null : 'Only a workflow that failed and was left as it is can be rolled back.'),
    cancel:
      ended ??
      (resumes ? null : stopping === 'cancelled' ? 'It was cancelled before.' : null) ??
      (status === 'rolling back' && !resumes ? 'It is rolling back already, and ends by itself.' : null),
  }
}
