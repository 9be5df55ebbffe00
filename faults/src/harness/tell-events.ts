// What a worker process tells the history about its engine.
import type { Millrace, MillraceEvents } from 'millrace'
import type { Recorder } from './history.ts'

const TOLD = [
  'job_rescued',
  'job_fence_lost',
  'job_returned',
  'job_died',
  'lease_lost',
  'loop_blocked',
  'listen_trusted',
  'slot_leaked',
  'slot_recovered',
  'worker_started',
  'worker_stopped',
  'database_error',
  'idle',
  'vacuum_done',
  'vacuum_blocked',
] as const satisfies readonly (keyof MillraceEvents)[]

interface Told {
  job?: { id: string; runId: string }
  id?: string
  why?: string
  outcome?: string
  reason?: string
  during?: string
  isTrusted?: boolean
}

export function tellEvents(millrace: Millrace, record: Recorder): void {
  for (const name of TOLD) {
    millrace.events.on(name, (payload) => {
      const { job, id, why, outcome, reason, during, isTrusted } = payload as Told
      const about = job === undefined ? { ...(id === undefined ? {} : { id }) } : { id: job.id, run: job.runId }
      const detail = why ?? outcome ?? reason ?? during ?? isTrusted
      record({ what: 'event', event: name, ...about, ...(detail === undefined ? {} : { why: String(detail) }) })
    })
  }
}
