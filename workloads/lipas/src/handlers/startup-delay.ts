// The startup delay of a schedule's job: a run that begins too early in its worker's life waits, without using an attempt.
//
// The platform's `initialDelay` counts once, from when a schedule is first written. This one holds back every run, also
// of a tick that is made up after an outage.
import { type Duration, type Implementation, type JobContext, snooze, toMs } from 'millrace'
import type { Uptime } from '../uptime.ts'

const MARGIN_MS = 10

export function afterStartup(delay: Duration, implementation: Implementation, uptime: Uptime): Implementation {
  const delayMs = toMs(delay, 'afterStartup(delay)')
  const handler = implementation.handler as (payload: never, ctx: JobContext) => unknown
  return {
    ...implementation,
    handler: (payload, ctx) => {
      const left = delayMs - uptime.ms
      return left > 0 ? snooze(left + MARGIN_MS) : handler(payload, ctx)
    },
  }
}
