// Until when a resume is cheap: from the next undo on it has to do more anew.
import { useState } from 'react'
import { useMay } from '../../data/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useNow } from '../../ui/text/clock.ts'
import { counted, formatDuration, roughDuration } from '../../ui/text/format.ts'
import { ResumeDialog } from './resume-dialog.tsx'
import { rollbackOf, tookMs, undoLeftMs } from './rollback.ts'
import type { Step, Times, WorkflowDetails } from './workflow-data.ts'

export function RollbackBanner({ workflow, times }: { workflow: WorkflowDetails; times: readonly Times[] }) {
  const may = useMay()
  const now = useNow()
  const [isOpen, setOpen] = useState(false)
  const { now: undoing, next } = rollbackOf(workflow.steps)
  if (workflow.status !== 'rolling back' || undoing === undefined || workflow.parentId !== null) return null
  if (workflow.resumes)
    return (
      <div className="decide" role="status">
        <Icon name="redo" />
        <p>
          <b>It was resumed.</b> The undo of {undoing.name} finishes; then what was undone is done anew, and the
          workflow goes on. Cancel it to roll back after all.
        </p>
      </div>
    )
  const leftMs = undoLeftMs(undoing, times, now)
  const [following] = next
  return (
    <div className="decide" role="status">
      <Icon name="late" />
      <p>
        <b>
          Decide {leftMs === null ? 'before' : `within ${roughDuration(leftMs)}, before`} the undo of {undoing.name} has
          ended.
        </b>{' '}
        {following === undefined
          ? 'It is the last one: then the workflow is over, and cannot be resumed any more.'
          : `Then the undo of ${following.name} begins, and a resume has to do ${costOf(following, times)}.`}
      </p>
      {may('workflows.resume') && (
        <div className="acts">
          <Button variant="primary" onClick={() => setOpen(true)}>
            Stop the rollback and resume… <kbd>r</kbd>
          </Button>
        </div>
      )}
      <ResumeDialog workflow={workflow} times={times} isOpen={isOpen} onClose={() => setOpen(false)} />
    </div>
  )
}

function costOf(step: Step, times: readonly Times[]): string {
  const took = tookMs(times, step.name)
  const what = step.kind === 'workflow' ? 'its whole workflow' : `its ${counted(step.completed, 'job')}`
  return `${what} again${took === null ? '' : `, which took ${formatDuration(took)}`}`
}
