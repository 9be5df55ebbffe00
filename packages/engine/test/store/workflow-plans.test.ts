// What workflows ask for is found by its index, however many other workflows there are, with and without statistics.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { statementTexts } from '#src/store/sql.generated'
import { freshDatabase } from '../support/database.ts'
import { planOf } from '../support/plans.ts'

const WORKFLOWS = 5_000
const JOBS = 8

let client: pg.Client
let database: Awaited<ReturnType<typeof freshDatabase>>

beforeAll(async () => {
  database = await freshDatabase()
  client = new pg.Client(database.url)
  await client.connect()
  await client.query('set enable_parallel_append = off; set max_parallel_workers_per_gather = 0')
  await client.query(
    `insert into millrace.workflow (status, name, rolls_back, retention, created_at, updated_at, finished_at, correlation_id, tenant)
     select case when g > 4900 then 'running' else 'completed' end, 'w' || g % 5, false, 'standard', now(), now(),
       case when g <= 4900 then now() - g * interval '1 minute' end, 'workflow-' || g, 't' || g % 100
     from generate_series(1, ${WORKFLOWS}) as g`,
  )
  await client.query(
    `insert into millrace.workflow_step (workflow_id, position, name, after, on_failure, can_be_undone, is_list, items, items_left, status)
     select w, p, 'step-' || p, '{}', 'fail', false, true, ${JOBS}, case when w > 4900 then ${JOBS} else 0 end,
       case when w > 4900 then 'running' else 'completed' end
     from generate_series(1, ${WORKFLOWS}) as w, generate_series(1, 3) as p`,
  )
  await client.query(
    `insert into millrace.workflow_item (workflow_id, job_id, position, item, kind, status)
     select w, row_number() over (), p, i, 'do', case when w > 4900 then 'running' else 'completed' end
     from generate_series(1, ${WORKFLOWS}) as w, generate_series(1, 3) as p, generate_series(0, ${JOBS - 1}) as i`,
  )
}, 120_000)

afterAll(async () => {
  await client.end()
  await database.drop()
})

const last = WORKFLOWS * 3 * JOBS
const running = Array.from({ length: 48 }, (_, i) => last - 47 + i)
const ends = [
  running,
  running.map(() => 'completed'),
  JSON.stringify(running.map(() => [1])),
  running.map(() => null),
  '2s',
]

const statements: [keyof typeof statementTexts, unknown[], number][] = [
  // 48 items and 6 steps are written.
  ['workflowSettle', ends, 1_500],
  ['workflowDue', [[4_999, 5_000]], 50],
  ['workflowStepRows', [5_000], 40],
  ['workflowStepPart', [null, 5_000], 120],
  ['workflowItemList', [5_000, [1, 2], 'do', null], 40],
  ['workflowItemReason', [5_000, [1, 2], 'do'], 40],
  ['workflowLock', [5_000, '10s'], 20],
  ['workflowTryLock', [5_000], 20],
  ['workflowWaitList', [null, 5_000], 20],
  ['workflowSignalList', [5_000], 20],
  ['workflowWaitBegin', [null, 5_000, 1, 1_000, null], 40],
  ['workflowFind', ['t7', 0, 100], 200],
  ['workflowPrune', [null, ['none', 'short', 'standard'], [0, 3, 7], 10], 4_000],
]

describe.each(['without statistics', 'with statistics'])('%s', (when) => {
  beforeAll(async () => {
    if (when === 'with statistics')
      await client.query('vacuum analyze millrace.workflow, millrace.workflow_step, millrace.workflow_item')
  }, 60_000)

  test.each(statements)('%s reads what it asks for', async (statement, values, buffers) => {
    const plan = await planOf(client, statement, values)
    expect(plan.scans).toEqual([])
    expect(plan.buffers).toBeLessThan(buffers)
  })

  test('workflowLook reads the steps that run, and their jobs', async () => {
    const plan = await planOf(client, 'workflowLook', [null, ['w1'], 200, 0, 1_000])
    expect(plan.scans.filter((name) => name !== 'job')).toEqual([])
    // 300 steps with 8 items each, none of which has a job.
    expect(plan.buffers).toBeLessThan(20_000)
  })

  test.each(['workflowStepWrite', 'workflowStepPart'] as const)(
    '%s compares no step with every other',
    async (statement) => {
      const steps = 2_000
      const each = <Value>(value: Value) => new Array(steps).fill(value)
      const zeros = each(0)
      const positions = zeros.map((_, i) => i + 1)
      const counts = [zeros, zeros, zeros, zeros, zeros, zeros]
      const values = {
        workflowStepWrite: [9_999, positions, each('completed'), each('none'), positions, ...counts, each(null)],
        workflowStepPart: [null, 9_999],
      }
      await client.query('begin; set local plan_cache_mode = force_generic_plan')
      await client.query(
        `insert into millrace.workflow_step (workflow_id, position, name, after, on_failure, can_be_undone, is_list, status, needs_advance)
       select 9999, p, 's' || p, '{}', 'fail', false, false, 'running', true from generate_series(1, $1::int) as p
       union all
       select 9999, $1 + 1, 'last', jsonb_object_agg('s' || p, 'fail'), 'fail', false, false, 'waiting', false
       from generate_series(1, $1::int) as p`,
        [steps],
      )
      const plan = await planOf(client, statement, values[statement])
      await client.query('rollback')
      expect(plan.rows).toBe(statement === 'workflowStepPart' ? steps + 1 : 0)
      expect(plan.discarded).toBeLessThan(20 * steps)
    },
  )
})
