// Random workflows on real rows end as the model predicts: settled at once, in parts or twice, cancelled at any time, and
// advanced by one, by several at a time, or after a crash by the sweep of somebody else.
import fc from 'fast-check'
import { defineWorkflow, type WorkflowDefinition } from 'millrace'
import { expect, test } from 'vitest'
import { failureOf } from '#src/failure'
import { Millrace } from '#src/millrace'
import { Database } from '#src/store/db'
import { jobClaim } from '#src/store/job-claims'
import { type Settlement, settle } from '#src/store/settlements'
import { workflowSettle } from '#src/store/workflow-items'
import { type Setup, setup } from '../support/setup.ts'
import { type Fate, type Plan, plans } from './plan.ts'
import { predict } from './predict.ts'
import { undo, work } from './running.ts'

const RUN = '00000000-0000-4000-8000-000000000001'

/** Jobs run at once. A list without elements has no time to run, and a step whose jobs all complete was not cancelled. */
const rowPlans = plans
  .filter(({ steps }) => steps.length > 0)
  .map((plan) => ({
    ...plan,
    // Its first steps begin with the start: nobody can be faster.
    cancelledAt: plan.cancelledAt === null ? null : plan.cancelledAt + 1,
    steps: plan.steps.map(({ jobs: given, heeds, ...step }) => {
      const jobs = given.length === 0 ? (['completed'] as const) : given
      return {
        ...step,
        hasJobs: true,
        withdraws: null,
        jobs,
        heeds: heeds && { ...heeds, completed: Math.min(heeds.completed, jobs.length - 1) },
      }
    }),
  }))

/** What happens in a tick beside the plan. */
interface Turn {
  /** The process that ended the jobs; that and others at once; an heir, as it died before it could. */
  advances: 'the same' | 'all' | 'an heir'
  /** The ends of jobs are written by two transactions at a time. */
  isInParts: boolean
  /** The replies to the settlements were lost, and they are sent again. */
  isRepeated: boolean
}

const turns: fc.Arbitrary<Turn[]> = fc.array(
  fc.record({
    advances: fc.constantFrom('the same', 'all', 'an heir'),
    isInParts: fc.boolean(),
    isRepeated: fc.boolean(),
  }),
  { minLength: 7, maxLength: 7 },
)

let started = 0

/**
 * Workflows that run side by side claim each other's jobs. A claim skips rows that another claim has locked, so one that
 * began before the other has committed would leave this workflow's jobs unclaimed: claims take turns.
 */
let claiming: Promise<unknown> = Promise.resolve()

function definitionOf({ steps, rollsBack }: Plan): WorkflowDefinition<undefined, false> {
  let flow = defineWorkflow(`random-${++started}`, { onFailure: rollsBack ? 'roll back' : 'stop' }) as never as {
    each(...args: unknown[]): typeof flow
  }
  for (const { name, after, onFailure, canBeUndone, isWanted, jobs } of steps) {
    const when = () => isWanted
    const payload = () => ({ name })
    const undoing = canBeUndone ? { undo: { job: undo, payload } } : {}
    flow = flow.each(name, work, { after, onFailure, when, over: () => jobs, payload, ...undoing })
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

  async run(turns: readonly Turn[]): Promise<Fate> {
    const definition = definitionOf(this.#plan)
    const open = () => this.#t.client([work, undo], { workflows: [definition] })
    let client = open()
    await using other = open()
    const { id } = await client.workflows.start(definition)
    for (let now = 0; now < 200; now++) {
      const turn = turns[now % turns.length] as Turn
      await this.#endWhatIsOver(id, now, turn)
      await this.#endAtOnce(id, now)
      if (now === this.#plan.cancelledAt) await client.workflows.cancel(id, { by: 'ann' })
      await this.#makeDueForSweep(id)
      if (turn.advances === 'an heir') {
        await client.close()
        client = open()
      }
      const [mine, others] = [client, other].map((each) => Millrace.servicesOf(each as never).advancer)
      if (turn.advances !== 'the same')
        await Promise.all([mine?.sweep(), turn.advances === 'all' && others?.heard([id])])
      await mine?.heard([id])
      await this.#noteBegun(id, now)
      const found = await client.workflows.get(id)
      if (found === undefined || found.finishedAt === null) continue
      await client.close()
      const { status, steps } = found
      return {
        status,
        steps: Object.fromEntries(steps.map((each) => [each.name, each.status])),
        undone: await this.#undone(id),
      }
    }
    throw new Error('it must end')
  }

  /** What ends in one tick ends at once. Only this workflow: others run beside it, and lock their rows in their own order. */
  async #endAtOnce(id: string, now: number): Promise<void> {
    await this.#t.sql(
      'update millrace.workflow_step set ended_at = to_timestamp($2) where workflow_id = $1 and needs_advance',
      [id, now],
    )
  }

  /** The sweep comes a minute later. */
  async #makeDueForSweep(id: string): Promise<void> {
    await this.#t.sql('update millrace.workflow set advance_at = now() where id = $1 and advance_at is not null', [id])
  }

  async #noteBegun(id: string, now: number): Promise<void> {
    for (const { kind, name } of await this.#open(id)) {
      const key = `${kind} ${name}`
      if (!this.#begun.has(key)) this.#begun.set(key, now)
    }
  }

  async #undone(id: string): Promise<string[]> {
    const rows = await this.#t.sql<{ name: string }>(
      `select name from millrace.workflow_step join millrace.workflow_item using (workflow_id, position)
       where workflow_id = $1 and kind = 'undo' group by name order by min(job_id)`,
      [id],
    )
    return rows.map(({ name }) => name)
  }

  #open(id: string): Promise<Open[]> {
    return this.#t.sql<{ id: string; kind: 'do' | 'undo'; item: number; name: string }>(
      `select job_id as id, kind, item, name from millrace.workflow_item as i
       join millrace.workflow_step as s using (workflow_id, position) where workflow_id = $1 and i.status = 'running'`,
      [id],
    )
  }

  async #endWhatIsOver(id: string, now: number, { isInParts, isRepeated }: Turn): Promise<void> {
    claiming = claiming.then(() => this.#claim())
    await claiming
    const open = await this.#open(id)
    const ends = open.filter((each) => this.#endsAt(each) === now).map((each) => this.#endOf(each, id))
    const middle = isInParts ? ends.length >> 1 : 0
    const parts = [ends.slice(0, middle), ends.slice(middle)].flatMap((part) =>
      (['finish', 'bury'] as const).map((kind) => part.filter((end) => end.kind === kind)),
    )
    const write = (part: readonly Settlement[]) => this.#db.transaction((tx) => settle(tx, null, part))
    const won = await Promise.all(parts.map(write))
    expect(won.map((each) => each.won.size)).toEqual(parts.map(({ length }) => length))
    if (!isRepeated) return
    for (const again of await Promise.all(parts.map(write))) expect(again.won.size).toBe(0)
    const told = ends.map(({ id: jobId }) => ({ jobId, status: 'failed' as const, result: null, reason: null }))
    expect(await workflowSettle(this.#db, told, { isOwn: true })).toEqual([])
  }

  #claim() {
    return jobClaim(this.#db, null, {
      queues: [{ queue: 'steps', limit: 1_000 }],
      types: [work, undo].map(({ type }) => ({ type, stuckAfterMs: 60_000 })),
      runId: RUN,
      workerId: RUN,
      suspectQueues: [],
      byType: false,
    })
  }

  #endsAt({ kind, name }: Open): number {
    const begunAt = this.#begun.get(`${kind} ${name}`) ?? Number.NaN
    if (kind === 'undo') return begunAt + 1
    return this.#heedsAt(name) ?? begunAt + this.#stepOf(name).ticks
  }

  /** When it ends because it was asked to; undefined: it was not, or ends before. */
  #heedsAt(name: string): number | undefined {
    const { heeds, ticks } = this.#stepOf(name)
    const { cancelledAt } = this.#plan
    const endsAt = (this.#begun.get(`do ${name}`) ?? Number.NaN) + ticks
    if (heeds === null || cancelledAt === null || endsAt <= cancelledAt) return undefined
    return cancelledAt + heeds.ticks < endsAt ? cancelledAt + heeds.ticks : undefined
  }

  #stepOf(name: string) {
    return this.#plan.steps.find((step) => step.name === name) as Plan['steps'][number]
  }

  #endOf({ id, kind, item, name }: Open, workflowId: string): Settlement {
    const { jobs, undoFails, heeds } = this.#stepOf(name)
    const asPlanned = kind === 'do' ? jobs[item] : undoFails ? 'failed' : 'completed'
    const asAsked = item < (heeds?.completed ?? 0) ? 'completed' : 'cancelled'
    const outcome = kind === 'do' && this.#heedsAt(name) !== undefined ? asAsked : asPlanned
    const run = { id, runId: RUN, workflowId, retention: 'standard' as const }
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
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 8 })
  const several = fc.array(fc.record({ plan: rowPlans, turns }), { minLength: 4, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(several, async (all) => {
      const fates = await Promise.all(all.map(({ plan, turns }) => new Rows(t, db, plan).run(turns)))
      expect(fates).toEqual(all.map(({ plan }) => predict(plan)))
    }),
    { numRuns: 12, endOnFailure: true },
  )
  const ofNoItem =
    'select from millrace.job_archive as job where not exists (select from millrace.workflow_item where job_id = id)'
  expect(await t.sql(ofNoItem)).toEqual([])
  expect(await t.sql('select from millrace.job')).toEqual([])
  await db.close()
})
