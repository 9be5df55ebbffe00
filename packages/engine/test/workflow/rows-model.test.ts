// Random workflows on real rows end as the model predicts: settled many at once, cancelled at any time, and advanced by
// whoever ended their jobs or, as after a crash, by the sweep.
import fc from 'fast-check'
import { defineWorkflow, type WorkflowDefinition } from 'millrace'
import { expect, test } from 'vitest'
import { failureOf } from '#src/failure'
import { Millrace } from '#src/millrace'
import { Database } from '#src/store/db'
import { jobClaim } from '#src/store/jobs'
import { type Settlement, settle } from '#src/store/settlements'
import { type Setup, setup } from '../support/setup.ts'
import { type Fate, type Plan, plans } from './plan.ts'
import { predict } from './predict.ts'
import { undo, work } from './running.ts'

const RUN = '00000000-0000-4000-8000-000000000001'

/** Jobs run at once, are asked to stop and do not heed it; a list without elements has no time to run. */
const rowPlans = plans
  .filter(({ steps }) => steps.length > 0)
  .map((plan) => ({
    ...plan,
    // Its first steps begin with the start: nobody can be faster.
    cancelledAt: plan.cancelledAt === null ? null : plan.cancelledAt + 1,
    steps: plan.steps.map((step) => ({
      ...step,
      heeds: null,
      withdraws: null,
      jobs: step.jobs.length === 0 ? (['completed'] as const) : step.jobs,
    })),
  }))

function definitionOf({ steps, rollsBack }: Plan): WorkflowDefinition<undefined, false> {
  let flow = defineWorkflow('random', { onFailure: rollsBack ? 'roll back' : 'stop' }) as never as {
    each(...args: unknown[]): typeof flow
  }
  for (const { name, after, onFailure, canBeUndone, jobs } of steps) {
    const payload = () => ({ name })
    const undoing = canBeUndone ? { undo: { job: undo, payload } } : {}
    flow = flow.each(name, work, { after, onFailure, over: () => jobs, payload, ...undoing })
  }
  return flow as never
}

interface Open {
  id: string
  kind: 'do' | 'undo'
  item: number
  name: string
}

class Rows {
  readonly #t: Setup
  readonly #db: Database
  readonly #plan: Plan
  readonly #begun = new Map<string, number>()

  constructor(t: Setup, db: Database, plan: Plan) {
    this.#t = t
    this.#db = db
    this.#plan = plan
  }

  async run(isSwept: (tick: number) => boolean): Promise<Fate> {
    const definition = definitionOf(this.#plan)
    const millrace = this.#t.client([work, undo], { workflows: [definition] })
    const { advancer } = Millrace.servicesOf(millrace as never)
    const { id } = await millrace.workflows.start(definition)
    for (let now = 0; now < 200; now++) {
      await this.#endWhatIsOver(id, now)
      if (now === this.#plan.cancelledAt) await millrace.workflows.cancel(id, { by: 'ann' })
      // The sweep comes a minute later.
      await this.#t.sql('update millrace.workflow set advance_at = now() where advance_at is not null')
      await (isSwept(now) ? advancer.sweep() : advancer.heard([id]))
      for (const { kind, name } of await this.#open(id)) {
        const key = `${kind} ${name}`
        if (!this.#begun.has(key)) this.#begun.set(key, now)
      }
      const found = await millrace.workflows.get(id)
      if (found === undefined || found.finishedAt === null) continue
      await millrace.close()
      const undone = await this.#t.sql<{ name: string }>(
        `select name from millrace.workflow_step join millrace.workflow_item using (workflow_id, position)
         where workflow_id = $1 and kind = 'undo' group by name order by min(job_id)`,
        [id],
      )
      return {
        status: found.status,
        steps: Object.fromEntries(found.steps.map(({ name, status }) => [name, status])),
        undone: undone.map(({ name }) => name),
      }
    }
    throw new Error('it must end')
  }

  #open(id: string): Promise<Open[]> {
    return this.#t.sql<{ id: string; kind: 'do' | 'undo'; item: number; name: string }>(
      `select job_id as id, kind, item, name from millrace.workflow_item as i
       join millrace.workflow_step as s using (workflow_id, position) where workflow_id = $1 and i.status = 'running'`,
      [id],
    )
  }

  async #endWhatIsOver(id: string, now: number): Promise<void> {
    await jobClaim(this.#db, null, {
      queues: [{ queue: 'steps', limit: 1_000 }],
      types: [work, undo].map(({ type }) => ({ type, stuckAfterMs: 60_000 })),
      runId: RUN,
      workerId: RUN,
      suspectQueues: [],
      byType: false,
    })
    const open = await this.#open(id)
    const over = open.filter(({ kind, name }) => {
      const ticks = kind === 'undo' ? 1 : this.#stepOf(name).ticks
      return this.#begun.get(`${kind} ${name}`) === now - ticks
    })
    const ends = over.map((each) => this.#endOf(each, id))
    await this.#db.transaction(async (tx) => {
      for (const kind of ['finish', 'bury'] as const) {
        const batch = ends.filter((end) => end.kind === kind)
        expect((await settle(tx, null, batch)).size).toBe(batch.length)
      }
    })
  }

  #stepOf(name: string) {
    return this.#plan.steps.find((step) => step.name === name) as Plan['steps'][number]
  }

  #endOf({ id, kind, item, name }: Open, workflowId: string): Settlement {
    const { jobs, undoFails } = this.#stepOf(name)
    const outcome = kind === 'do' ? jobs[item] : undoFails ? 'failed' : 'completed'
    const run = { id, runId: RUN, workflowId, retention: 'none' as const }
    if (outcome === 'failed') {
      const failure = { ...failureOf('Planned', 'as planned'), logs: null }
      return { kind: 'bury', ...run, reason: 'exhausted', failure, drop: true }
    }
    const status = outcome === 'cancelled' ? ('cancelled' as const) : ('completed' as const)
    return { kind: 'finish', ...run, status, result: '{"did":"it"}', reason: null }
  }
}

test('random workflows end as the model predicts, on real rows', { timeout: 120_000 }, async () => {
  await using t = await setup()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  await fc.assert(
    fc.asyncProperty(rowPlans, fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }), async (plan, swept) => {
      const fate = await new Rows(t, db, plan).run((tick) => swept[tick % swept.length] === true)
      expect(fate).toEqual(predict(plan))
    }),
    { numRuns: 25, endOnFailure: true },
  )
  await db.close()
})
