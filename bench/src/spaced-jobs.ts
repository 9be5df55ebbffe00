// Jobs enqueued one after the other with pauses in between, each carrying the moment at which it was asked for.
import { setTimeout as sleep } from 'node:timers/promises'
import { defineJob, defineQueues, type Millrace } from 'millrace'
import pg from 'pg'
import { z } from 'zod'

const { latency: queue } = defineQueues({ latency: {} })

/** `askedAtUs`: microseconds of the machine's monotonic clock, which all its processes share. */
export const timed = defineJob({ type: 'timed', queue, payload: z.object({ askedAtUs: z.number() }) })

export const monotonicUs = (): number => Number(process.hrtime.bigint() / 1_000n)

export interface SpacedPlan {
  readonly jobs: number
  /** Pauses are drawn evenly from half of it to one and a half. */
  readonly gapMs: number
  readonly inTransaction: boolean
  readonly tenant?: string
}

export async function enqueueSpaced(
  millrace: Millrace,
  databaseUrl: string,
  { jobs, gapMs, inTransaction, tenant }: SpacedPlan,
): Promise<void> {
  const options = tenant === undefined ? {} : { tenant }
  const enqueue = (tx?: pg.Client) =>
    millrace.enqueue(timed, { askedAtUs: monotonicUs() }, tx === undefined ? options : { ...options, tx })
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    for (let n = 0; n < jobs; n++) {
      await sleep(gapMs * (0.5 + Math.random()))
      if (!inTransaction) {
        await enqueue()
        continue
      }
      await client.query('begin')
      await enqueue(client)
      await client.query('commit')
    }
  } finally {
    await client.end()
  }
}
