// What is the matter with a schedule, in words. Pure.
import type { Answer } from '../../data/queries.ts'
import type { IconName } from '../../ui/icon.tsx'
import { counted, formatDuration, listed } from '../../ui/text/format.ts'
import type { Tone } from '../../ui/tone.ts'

export type Schedule = Answer<'schedules', 'list'>['schedules'][number]

export interface ScheduleState {
  readonly tone: Tone
  readonly icon: IconName
  readonly word: string
  /** More of it, in a sentence; null: there is nothing to say. */
  readonly says: string | null
}

/** Later than this a tick is overdue: nobody makes it. */
const OVERDUE_MS = 60_000

export function stateOf(schedule: Schedule): ScheduleState {
  const { status, pause, overdueMs, deadInARow, failures, missed, declaredBy } = schedule
  if (status === 'orphaned') {
    const says = `No living worker declares it${declaredBy ? `; ${declaredBy} did` : ''}. It does not fire.`
    return { tone: 'late', icon: 'none', word: 'orphaned', says }
  }
  if (pause !== null)
    return { tone: 'late', icon: 'held', word: 'paused', says: `Paused by ${pause.by}: ${pause.reason}` }
  if (status === 'paused') return { tone: 'late', icon: 'held', word: 'paused', says: null }
  if (status === 'finished') return { tone: 'off', icon: 'stop', word: 'finished', says: 'It will not fire again.' }
  if (overdueMs > OVERDUE_MS) {
    const says = `Its tick is overdue by ${formatDuration(overdueMs)}: no worker makes it.`
    return { tone: 'fail', icon: 'late', word: 'overdue', says }
  }
  if (deadInARow > 0)
    return { tone: 'fail', icon: 'fail', word: 'dying', says: `Its last ${counted(deadInARow, 'job')} died.` }
  if (failures > 0)
    return { tone: 'fail', icon: 'fail', word: 'failing', says: `${counted(failures, 'tick')} in a row failed.` }
  const says = missed > 0 ? `${counted(missed, 'tick')} of it ${missed === 1 ? 'was' : 'were'} missed so far.` : null
  return { tone: 'ok', icon: 'ok', word: 'on time', says }
}

/** The verdict: what is wrong comes first, and names who it is. */
export function verdictOf(schedules: readonly Schedule[]): {
  tone: 'ok' | 'late' | 'fail'
  what: string
  rest: string
} {
  const by = (tone: Tone) => schedules.filter((each) => stateOf(each).tone === tone)
  const bad = by('fail')
  const late = by('late')
  const names = (which: readonly Schedule[]) =>
    listed(which.slice(0, 3).map(({ name }) => name)) + more(which.length - 3)
  if (bad.length > 0) {
    const what = `${bad.length} of ${counted(schedules.length, 'schedule')} ${bad.length === 1 ? 'is' : 'are'} in trouble`
    return { tone: 'fail', what, rest: `: ${names(bad)}.` }
  }
  if (late.length > 0) {
    const what = `${late.length} of ${counted(schedules.length, 'schedule')} ${late.length === 1 ? 'does' : 'do'} not fire`
    return { tone: 'late', what, rest: `: ${names(late)}.` }
  }
  const what = schedules.length === 1 ? 'The schedule fires on time' : `All ${schedules.length} schedules fire on time`
  return { tone: 'ok', what, rest: '.' }
}

const more = (count: number) => (count > 0 ? ` and ${count} more` : '')
