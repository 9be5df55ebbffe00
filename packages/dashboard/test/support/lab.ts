// Jobs that tests enqueue themselves, beside those of the demo: what becomes of them is said in their payload.
import { defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import { z } from 'zod'

const queues = defineQueues({ lab: { priority: 3, concurrency: 5, sla: '1m', color: 'salmon' } })
const payload = z.object({
  /** Ends with this error, if it is given. */
  fails: z.string().optional(),
  /** Writes so many lines to its log. */
  lines: z.int().optional(),
  /** Runs until somebody cancels it. */
  holds: z.boolean().optional(),
  note: z.string().optional(),
})

export const experiment = defineJob({
  type: 'lab.experiment',
  queue: queues.lab,
  payload,
  examples: [{ note: 'a first try' }],
})

export const labHandlers = [
  implement(experiment, async ({ fails, holds, lines = 0 }, { log, signal }) => {
    if (holds) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    signal.throwIfAborted()
    for (let line = 1; line <= lines; line++) log.info({ line }, `line ${line}`)
    if (fails !== undefined) throw new Unrecoverable(fails)
    return { measured: true }
  }),
]
