// Schedules of worker processes, as their settings say: every tick is a task that names its schedule and its fire time.
import { existsSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cron, defineSchedule, every, type MissedPolicy, type Schedule } from 'millrace'
import { type Task, task } from './tasks.ts'

export interface ScheduleSpec {
  name: string
  /** A cron expression, or milliseconds. */
  when: string | number
  timeZone?: string
  missed?: MissedPolicy
  paused?: boolean
}

/** So long that processes which come to a tick at once are all at it before the first has done it. */
const PREPARING_MS = 10

/** The number of the task that a tick enqueues. */
export const taskOf = (schedule: string, fireAt: Date): string => `${schedule}@${fireAt.toISOString()}`

/** `gate`: a file. If it is there, the process takes it away and freezes, with a tick planned and nothing written of it. */
export function schedulesOf(specs: readonly ScheduleSpec[], gate: string): Schedule[] {
  return specs.map(({ name, when, timeZone = 'UTC', ...options }) =>
    defineSchedule({
      name,
      job: task,
      when: typeof when === 'number' ? every(when) : cron(when, { timeZone }),
      payload: async ({ fireAt }): Promise<Task> => {
        if (existsSync(gate)) {
          rmSync(gate)
          process.kill(process.pid, 'SIGSTOP')
        }
        await sleep(PREPARING_MS)
        return { n: taskOf(name, fireAt), does: 'plain' }
      },
      ...options,
    }),
  )
}
