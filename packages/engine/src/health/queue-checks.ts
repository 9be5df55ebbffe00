// Depth and age of queues, their SLAs, and queues that no worker serves.
import { SYSTEM_QUEUE } from '../client/system-job.ts'
import { type Check, degraded, failing } from './check.ts'
import type { QueueVitals } from './vitals.ts'
import { capitalised, counted, span } from './words.ts'

const MAX_WAITING = 1_000
const MAX_DUE = 500
const MAX_AGE_MS = 3_600_000
/** A worker that starts, or has just begun to serve a queue, gets so much time. */
const UNSERVED_MS = 60_000

export const queueDepth: Check = {
  name: 'queue_depth',
  area: 'queues',
  look({ vitals: { queues } }) {
    const deep = queues.filter(({ waiting, due }) => waiting > MAX_WAITING || due > MAX_DUE)
    const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0)
    return {
      fine: `${capitalised(counted(waiting, 'job'))} ${waiting === 1 ? 'waits' : 'wait'} in ${counted(queues.length, 'queue')}.`,
      complaints: deep.map((queue) =>
        degraded(
          `Queue "${queue.queue}" holds ${counted(queue.waiting, 'job')}, and ${queue.due} of them could run now.${pausedBy(queue)}`,
          'Start another worker process, or find out why jobs take longer than they did: `millrace stats --since 24h --by hour`.',
        ),
      ),
    }
  },
}

export const queueAge: Check = {
  name: 'queue_age',
  area: 'queues',
  look({ vitals: { queues } }) {
    const ages = queues.flatMap(({ oldestDueMs }) => oldestDueMs ?? [])
    return {
      fine: ages.length === 0 ? 'No job is due.' : `The oldest due job has waited for ${span(Math.max(...ages))}.`,
      complaints: queues.flatMap((queue) =>
        queue.oldestDueMs === null || queue.oldestDueMs <= MAX_AGE_MS
          ? []
          : degraded(
              `The oldest due job of queue "${queue.queue}" has waited for ${span(queue.oldestDueMs)}.${pausedBy(queue)}`,
              'Ask what holds it: `millrace jobs --queue QUEUE`, then `millrace explain JOB`.',
            ),
      ),
    }
  },
}

export const queueSla: Check = {
  name: 'queue_sla',
  area: 'queues',
  look({ vitals: { queues } }) {
    const bound = queues.filter(({ slaMs }) => slaMs !== null)
    return {
      fine:
        bound.length === 0
          ? 'No queue declares an SLA.'
          : `${capitalised(counted(bound.length, 'queue'))} ${bound.length === 1 ? 'keeps its SLA' : 'keep their SLAs'}.`,
      complaints: bound.flatMap((queue) => {
        const ms = queue.latencyP95Ms ?? queue.oldestDueMs
        if (ms === null || ms <= (queue.slaMs as number)) return []
        const what =
          queue.latencyP95Ms === null
            ? 'The oldest job has been due for'
            : 'P95 from due to the end of the first attempt is'
        return degraded(
          `${what} ${span(ms)} in queue "${queue.queue}"; its SLA is ${span(queue.slaMs as number)}.${pausedBy(queue)}`,
          'Give the queue more slots or another process, or find out what made its jobs slower.',
        )
      }),
    }
  },
}

export const queueUnserved: Check = {
  name: 'queue_unserved',
  area: 'queues',
  look({ vitals: { queues, lanes, workers } }) {
    // Every worker runs the jobs of Millrace itself, without a lane.
    const served = new Set([SYSTEM_QUEUE, ...lanes.flatMap((lane) => lane.queues)])
    // A worker of an older version does not say which queues it serves.
    const isKnown = workers.length > 0 && workers.every(({ state }) => state !== null)
    const waiting = queues.filter(({ oldestDueMs, pauses }) => (oldestDueMs ?? 0) > UNSERVED_MS && pauses.length === 0)
    return {
      fine: 'Every queue with due jobs is served by a worker.',
      complaints: (isKnown ? waiting : [])
        .filter(({ queue }) => !served.has(queue))
        .map(({ queue, due, oldestDueMs }) =>
          failing(
            `${capitalised(counted(due, 'job'))} of queue "${queue}" could run, for up to ${span(oldestDueMs ?? 0)}, and no worker serves that queue.`,
            'Start a worker with handlers for it, or let one serve it: `millrace work --queues`.',
          ),
        ),
    }
  },
}

function pausedBy({ pauses: [pause] }: QueueVitals): string {
  return pause === undefined ? '' : ` The queue is paused by ${pause.by}: ${pause.reason}.`
}
