// What this process tells of the ticks it has done.
import type { Events } from '../events.ts'
import type { Logger } from '../logger.ts'
import type { Missed } from '../schedule/due.ts'
import type { TickOrigin, TickResult } from '../store/schedule-ticks.ts'

interface Listeners {
  events: Events
  logger: Logger
}

export interface ToldTick {
  schedule: string
  fireAt: Date
  origin: TickOrigin
  latenessMs: number
}

export function tellTick({ events, logger }: Listeners, tick: ToldTick, result: TickResult): void {
  const { outcome, reason, jobId, jobs, refused } = result
  events.emit('schedule_ticked', { ...tick, outcome, reason, jobId, jobs })
  if (outcome === 'failed') logger.warn({ ...tick, reason }, 'a tick of a schedule failed: it enqueued nothing')
  else if (refused > 0) logger.warn({ ...tick, refused, reason }, 'a tick of a schedule left tenants out')
}

export function tellMissed({ events, logger }: Listeners, schedule: string, { from, to, count }: Missed): void {
  events.emit('schedule_missed', { schedule, from, to, count })
  logger.warn({ schedule, from, to, count }, 'fire times of a schedule passed without a tick')
}
