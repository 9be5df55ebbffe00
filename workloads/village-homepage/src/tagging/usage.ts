// From the calls of a run to the budget: in one transaction calls are marked as counted and their cost is spent.
import type { JobContext, Queryable, Reservation, SpendOptions } from 'millrace'
import type { VillageDatabase } from '../database/pool.ts'
import { countBatch, countLeft, type Uncounted } from './usage-store.ts'

/** What runs have left uncounted whose process died between a call and the end of its batch. */
export async function repairUsage(database: VillageDatabase, { jobId, budget }: JobContext): Promise<Uncounted> {
  return database.transaction(async (tx) => {
    const left = await countLeft(tx, jobId)
    if (left.calls > 0) await budget.spend(left.microdollars, spendOptions(left, tx))
    return left
  })
}

/** The batch has ended, however: what it has really cost is spent, and the rest of its reservation is free. */
export async function settleBatch(
  database: VillageDatabase,
  batch: string,
  reservation: Reservation,
): Promise<Uncounted> {
  const cost = await database.transaction(async (tx) => {
    const sum = await countBatch(tx, batch)
    if (sum.calls > 0) await reservation.spend(sum.microdollars, spendOptions(sum, tx))
    return sum
  })
  await reservation.release()
  return cost
}

const spendOptions = ({ calls, inputTokens, outputTokens }: Uncounted, tx: Queryable): SpendOptions => ({
  ...{ tx, calls },
  details: { input_tokens: inputTokens, output_tokens: outputTokens },
})
