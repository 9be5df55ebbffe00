// What jobs carry and how they are retried. No handler code, so that web processes can import this file.
import { defineJob, defineQueues, exponential } from 'millrace'
import { z } from 'zod'

export const queues = defineQueues({
  mail: { concurrency: 5, timeout: '30s' },
})

export const greet = defineJob({
  type: 'greet',
  queue: queues.mail,
  payload: z.object({ name: z.string().min(1) }),
  result: z.object({ text: z.string() }),
  retry: { attempts: 5, backoff: exponential({ base: '10s', jitter: 0.25 }) },
  examples: [{ name: 'Ada' }],
})
