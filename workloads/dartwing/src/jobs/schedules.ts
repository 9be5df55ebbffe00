// What comes by the clock.
import { cron, defineSchedule, type Schedule } from 'millrace'
import { cleanUpDeadLetters, detectStuckJobs } from '../contracts/monitoring.ts'
import type { DartwingSettings } from '../settings.ts'

export function dartwingSchedules({ DARTWING_TIME_ZONE: timeZone = 'UTC' }: DartwingSettings): Schedule[] {
  return [
    defineSchedule({
      name: 'detect-stuck-jobs',
      job: detectStuckJobs,
      when: cron('*/15 * * * *', { timeZone }),
      payload: {},
      overlap: 'skip',
    }),
    defineSchedule({
      name: 'cleanup-old-dlq-entries',
      job: cleanUpDeadLetters,
      when: cron('0 3 * * *', { timeZone }),
      payload: {},
      overlap: 'skip',
    }),
  ]
}
