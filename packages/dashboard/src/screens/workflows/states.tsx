// What the states of workflows and steps are called, and how serious they are.

import type { IconName } from '../../ui/icon.tsx'
import { Badge } from '../../ui/status-badge.tsx'
import { formatNumber } from '../../ui/text/format.ts'
import type { Tone } from '../../ui/tone.ts'
import type { Step, Workflow } from './workflow-data.ts'

interface Look {
  readonly tone: Tone
  readonly icon: IconName
  readonly word: string
}

const OFF = { tone: 'off', icon: 'none' } as const

const WORKFLOW: Record<Workflow['status'], Look> = {
  running: { tone: 'info', icon: 'run', word: 'running' },
  stopping: { tone: 'late', icon: 'held', word: 'stopping' },
  'rolling back': { tone: 'late', icon: 'undo', word: 'rolling back' },
  completed: { tone: 'ok', icon: 'ok', word: 'completed' },
  failed: { tone: 'fail', icon: 'fail', word: 'failed' },
  cancelled: { tone: 'off', icon: 'stop', word: 'cancelled' },
  'rolled back': { tone: 'off', icon: 'undo', word: 'rolled back' },
  'rollback failed': { tone: 'fail', icon: 'fail', word: 'rollback failed' },
}

const STEP: Record<Step['status'], Look> = {
  waiting: { ...OFF, icon: 'wait', word: 'not started' },
  running: { tone: 'info', icon: 'run', word: 'running' },
  completed: { tone: 'ok', icon: 'ok', word: 'completed' },
  failed: { tone: 'fail', icon: 'fail', word: 'failed' },
  skipped: { ...OFF, word: 'skipped' },
  cancelled: { ...OFF, icon: 'stop', word: 'cancelled' },
}

const UNDO: Record<Step['undo'], Look> = {
  none: { ...OFF, icon: 'wait', word: 'not undone' },
  running: { tone: 'late', icon: 'undo', word: 'being undone' },
  done: { ...OFF, icon: 'undo', word: 'undone' },
  failed: { tone: 'fail', icon: 'fail', word: 'undo failed' },
}

export const workflowLook = ({ status }: Pick<Workflow, 'status'>): Look => WORKFLOW[status]

/** With how far it is, where it has many jobs. */
export function stepLook(step: Step): Look {
  const look = STEP[step.status]
  if (step.status === 'running' && step.kind === 'signal')
    return { tone: 'off', icon: 'wait', word: 'awaits its signal' }
  if (step.status === 'running' && step.kind === 'sleep') return { tone: 'off', icon: 'wait', word: 'sleeps' }
  const isCounted = step.jobs > 1 && (step.status === 'running' || step.status === 'completed')
  return isCounted ? { ...look, word: `${formatNumber(step.completed)} of ${formatNumber(step.jobs)}` } : look
}

export function undoLook({ undo, undoLeft, completed }: Step): Look {
  const isCounted = undo === 'running' && completed > 1
  return isCounted ? { ...UNDO[undo], word: `${completed - undoLeft} of ${completed} undone` } : UNDO[undo]
}

export const LookBadge = ({ look: { tone, icon, word } }: { look: Look }) => (
  <Badge tone={tone} icon={icon}>
    {word}
  </Badge>
)
