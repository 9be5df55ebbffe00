// A worker of trivial jobs as it runs in a child process.
import { createMillrace, defineJob, defineQueues, implement, type Millrace } from 'millrace'
import { z } from 'zod'
import { type Claim, logClaims } from './claim-log.ts'
import { trivial } from './trivial-jobs.ts'

export interface WorkerPlan {
  readonly databaseUrl: string
  /** Queues that it serves beside that of the trivial jobs, in which nothing ever happens. */
  readonly quietQueues?: readonly string[]
  /** Resolve only when wake-ups are trusted. */
  readonly untilTrusted?: boolean
}

let millrace: Millrace | undefined
let handled = 0
const claims = logClaims()

/** Answers when the worker has started. */
export async function startWorker({ databaseUrl, quietQueues = [], untilTrusted }: WorkerPlan): Promise<void> {
  const quiet = Object.values(defineQueues(Object.fromEntries(quietQueues.map((name) => [name, {}])))).map((queue) =>
    defineJob({ type: `${queue.name}.job`, queue, payload: z.object({}) }),
  )
  millrace = createMillrace({ database: databaseUrl, jobs: [trivial, ...quiet] })
  handled = 0
  claims.length = 0
  const trusted = millrace.events.next('listen_trusted', ({ isTrusted }) => isTrusted)
  const handlers = [implement(trivial, () => void handled++), ...quiet.map((job) => implement(job, () => {}))]
  await millrace.work({ handlers })
  if (untilTrusted) await trusted
}

/** Answers with the claims that it made. */
export async function stopWorker(): Promise<Claim[]> {
  await millrace?.close()
  millrace = undefined
  return [...claims]
}

export const handledByWorker = (): number => handled
