import { randomUUID } from 'node:crypto'
import type { Budget, BudgetStatus } from 'millrace'
import { Budgets } from '#src/governance/budgets'
import { Database } from '#src/store/db'
import { type Setup, setup } from './setup.ts'

export interface FakeRun {
  fence: { id: string; runId: string }
  job: { type: string; createdBy: string | null }
}

/** Budgets on a database of their own, as many processes as wanted, and rows of jobs that run. */
export async function budgetSetup(now: string | null = null) {
  const t = await setup()
  const clock = { now: now === null ? null : new Date(now), databaseNow: (): Date | null => clock.now }
  const opened: Database[] = []
  const told: { threshold: number; status: BudgetStatus }[] = []
  return {
    ...t,
    clock,
    told,

    /** As another process would have them. */
    budgets(maxConnections = 2): Budgets {
      const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections })
      opened.push(db)
      return new Budgets({
        db,
        clock,
        onThreshold: (threshold, status) => told.push({ threshold, status }),
        onError: (during, error) => {
          throw new Error(during, { cause: error })
        },
      })
    },

    async run(type = 'tag', createdBy: string | null = null): Promise<FakeRun> {
      return { fence: await processing(t, type), job: { type, createdBy } }
    },

    /** The process died: the rescuer has put the job back, and another run may have it. */
    async crash({ fence }: FakeRun): Promise<void> {
      await t.sql(`update millrace.job set status = 'pending', run_id = null where id = $1`, [fence.id])
    },

    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((db) => db.close()))
      await t[Symbol.asyncDispose]()
    },
  }
}

async function processing(t: Setup, type: string): Promise<FakeRun['fence']> {
  const runId = randomUUID()
  const [row] = await t.sql<{ id: string }>(
    `insert into millrace.job (status, type, queue, priority, max_attempts, run_at, created_at, updated_at, run_id, payload)
     values ('processing', $1, 'main', 5, 5, now(), now(), now(), $2, '{}') returning id`,
    [type, runId],
  )
  return { id: String(row?.id), runId }
}

export const reserve = (budgets: Budgets, budget: Budget, run: FakeRun, amount: number, id = randomUUID()) =>
  budgets.reserve(budget, run, { id, amount })

export const spend = (
  budgets: Budgets,
  budget: Budget,
  run: FakeRun,
  what: number | { amount: number; id?: string; period?: string | null },
) => {
  const { amount, id = randomUUID(), period = null } = typeof what === 'number' ? { amount: what } : what
  return budgets.spend(budget, run, { id, period, amount, calls: 1, details: {} })
}
