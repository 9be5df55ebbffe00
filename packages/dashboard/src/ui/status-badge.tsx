// A state as icon, word and colour.
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'
import { iconOf, type Tone } from './tone.ts'

interface State {
  readonly tone: Tone
  readonly icon: IconName
  readonly word: string
}

/** Of jobs, steps, workflows, letters, breakers, operations, alerts and workers: a word means the same everywhere. */
const STATES: Readonly<Record<string, State>> = {
  pending: { tone: 'off', icon: 'wait', word: 'waiting' },
  scheduled: { tone: 'off', icon: 'wait', word: 'scheduled' },
  waiting: { tone: 'off', icon: 'wait', word: 'waiting' },
  blocked: { tone: 'late', icon: 'held', word: 'blocked' },
  paused: { tone: 'late', icon: 'held', word: 'paused' },
  processing: { tone: 'info', icon: 'run', word: 'running' },
  running: { tone: 'info', icon: 'run', word: 'running' },
  failed: { tone: 'late', icon: 'late', word: 'failed, retries' },
  completed: { tone: 'ok', icon: 'ok', word: 'completed' },
  succeeded: { tone: 'ok', icon: 'ok', word: 'succeeded' },
  cancelled: { tone: 'off', icon: 'stop', word: 'cancelled' },
  skipped: { tone: 'off', icon: 'stop', word: 'skipped' },
  dead: { tone: 'fail', icon: 'fail', word: 'dead' },
  compensating: { tone: 'late', icon: 'undo', word: 'undoing' },
  compensated: { tone: 'off', icon: 'undo', word: 'undone' },
  retried: { tone: 'info', icon: 'redo', word: 'redriven' },
  resolved: { tone: 'ok', icon: 'ok', word: 'resolved' },
  ignored: { tone: 'off', icon: 'hide', word: 'ignored' },
  acknowledged: { tone: 'late', icon: 'ack', word: 'acknowledged' },
  open: { tone: 'fail', icon: 'fail', word: 'open' },
  half_open: { tone: 'late', icon: 'late', word: 'probing' },
  closed: { tone: 'ok', icon: 'ok', word: 'closed' },
  firing: { tone: 'fail', icon: 'fail', word: 'firing' },
  cleared: { tone: 'ok', icon: 'ok', word: 'cleared' },
  active: { tone: 'ok', icon: 'ok', word: 'active' },
  suspended: { tone: 'late', icon: 'held', word: 'suspended' },
  deleted: { tone: 'off', icon: 'stop', word: 'deleted' },
}

export interface StatusBadgeProps {
  /** As the API names it. A name that is not known is shown as it is. */
  status: string
  /** Another word than the usual one. */
  children?: ReactNode
  /** A filled tag instead of a line of text. */
  as?: 'text' | 'tag'
}

export function StatusBadge({ status, children, as = 'text' }: StatusBadgeProps) {
  const known = Object.hasOwn(STATES, status) ? STATES[status] : undefined
  const { tone, icon, word } = known ?? { tone: 'off', icon: 'none', word: status.replaceAll('_', ' ') }
  return (
    <Badge tone={tone} icon={icon} as={as}>
      {children ?? word}
    </Badge>
  )
}

export interface BadgeProps {
  tone: Tone
  icon?: IconName
  as?: 'text' | 'tag'
  children: ReactNode
}

/** For a state that is not in the list: the caller gives the words. */
export function Badge({ tone, icon, as = 'text', children }: BadgeProps) {
  return (
    <span className={`${as === 'tag' ? 'tag' : 'st'} ${tone}`}>
      <Icon name={icon ?? iconOf(tone)} />
      {children}
    </span>
  )
}
