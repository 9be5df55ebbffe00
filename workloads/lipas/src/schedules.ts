// What comes by the clock.
import { cron, defineSchedule, every, type Schedule } from 'millrace'
import { cleanupJobs, monitorQueueHealth, produceReminders } from './contracts.ts'
import type { LipasSettings } from './settings.ts'

export const TIME_ZONE = 'Europe/Helsinki'

export function lipasSchedules({ LIPAS_TIME_ZONE: timeZone = TIME_ZONE }: LipasSettings): Schedule[] {
  return [
    defineSchedule({
      name: 'produce-reminders',
      job: produceReminders,
      when: cron('0 0 8 * * ?', { timeZone }),
      payload: {},
      overlap: 'skip',
    }),
    defineSchedule({
      name: 'cleanup-jobs',
      job: cleanupJobs,
      when: every('1d', { initialDelay: '5m' }),
      payload: {},
      overlap: 'skip',
    }),
    defineSchedule({
      name: 'monitor-queue-health',
      job: monitorQueueHealth,
      when: every('1m', { initialDelay: '30s' }),
      payload: {},
      overlap: 'skip',
    }),
  ]
}
