// Jobs that are enqueued together share one statement, which sends what is the same in all rows once and what is null
// not at all. Whatever the mixture, each row must be what its own caller asked for.
import fc from 'fast-check'
import { defineJob, defineQueues, type EnqueueOptions, type Millrace } from 'millrace'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { asJson, awkwardText, storableJson } from '../support/arbitraries.ts'
import { type Setup, setup } from '../support/setup.ts'

const queues = defineQueues({ plain: { priority: 3 }, urgent: { priority: 0 } })
const contracts = [
  defineJob({ type: 'a', queue: queues.plain, payload: z.unknown() }),
  defineJob({ type: 'b', queue: queues.plain, payload: z.unknown(), retry: { attempts: 2 } }),
  defineJob({ type: 'c', queue: queues.urgent, payload: z.unknown() }),
]
const keyed = defineJob({
  type: 'keyed',
  queue: queues.urgent,
  payload: z.object({ key: z.string().nullable(), tenant: z.string(), value: z.unknown() }),
  dedupe: { key: ({ key }) => key },
  tenant: ({ tenant }) => tenant,
})

let t: Setup
let millrace: Millrace
beforeAll(async () => {
  t = await setup()
  millrace = t.client([...contracts, keyed])
})
afterAll(() => t[Symbol.asyncDispose]())

/** One value, or none, for all rows; or a few, which the rows take in turn. */
const column = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<(Value | undefined)[]> =>
  fc.array(fc.option(value, { nil: undefined }), { minLength: 1, maxLength: 4 })

const when = fc.oneof(
  fc.integer({ min: 1, max: 100_000_000 }).map((delay) => ({ delay })),
  fc
    .date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((runAt) => ({ runAt })),
)

const batch = fc.record({
  size: fc.integer({ min: 1, max: 30 }),
  contract: column(fc.constantFrom(...contracts)),
  payload: column(storableJson(2)),
  when: column(when),
  tenant: column(awkwardText),
  priority: column(fc.integer({ min: 0, max: 2_147_483_647 })),
  maxAttempts: column(fc.integer({ min: 1, max: 1_000 })),
  correlationId: column(awkwardText),
  parentJobId: column(fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String)),
  createdBy: column(awkwardText),
  traceParent: column(awkwardText),
})

type Batch = typeof batch extends fc.Arbitrary<infer Value> ? Value : never

interface Asked {
  contract: (typeof contracts)[number]
  payload: unknown
  options: EnqueueOptions
}

function asked(row: number, { size: _, contract, payload, when: due, ...labels }: Batch): Asked {
  const inRow = <Value>(values: readonly Value[]): Value => values[row % values.length] as Value
  const options = Object.entries(labels).map(([name, values]) => [name, inRow<unknown>(values)])
  return {
    contract: inRow(contract) ?? (contracts[0] as Asked['contract']),
    payload: inRow(payload) ?? null,
    options: { ...inRow(due), ...Object.fromEntries(options.filter(([, value]) => value !== undefined)) },
  }
}

const expected = ({ contract, payload, options }: Asked): object => ({
  type: contract.type,
  queue: contract.queue.name,
  payload: asJson(payload),
  tenant: options.tenant ?? null,
  priority: options.priority ?? contract.queue.priority,
  max_attempts: options.maxAttempts ?? contract.retry.attempts,
  correlation_id: options.correlationId ?? null,
  parent_job_id: options.parentJobId ?? null,
  created_by: options.createdBy ?? null,
  trace_parent: options.traceParent ?? null,
  dedup_key: null,
  run_at: options.runAt ?? null,
  wait_ms: options.runAt === undefined ? (options.delay ?? 0) : null,
})

interface Row {
  id: string
  commit: string
  tenant: string | null
  run_at: Date | null
  wait_ms: number | null
}

/** The rows in the order of these ids; a time that nobody named is told as the wait since it was enqueued. */
function rowsOf(ids: readonly string[]): Promise<Row[]> {
  return t.sql<Row>(
    `select id, job.xmin::text as commit, type, queue, payload, tenant, priority, max_attempts, correlation_id, parent_job_id,
       created_by, trace_parent, dedup_key, run_at, (extract(epoch from run_at - created_at) * 1000)::float8 as wait_ms
     from unnest($1::bigint[]) with ordinality as wanted (id, ord) join millrace.job using (id) order by ord`,
    [ids],
  )
}

test('among single enqueues that share a statement, every column of a job is its own', async () => {
  await fc.assert(
    fc.asyncProperty(batch, async (columns) => {
      const jobs = Array.from({ length: columns.size }, (_, row) => asked(row, columns))
      const results = await Promise.all(
        jobs.map(({ contract, payload, options }) => millrace.enqueue(contract, payload, options)),
      )
      const rows = await rowsOf(results.map(({ id }) => id))
      const seen = rows.map(({ id: _, commit: __, ...row }, i) =>
        jobs[i]?.options.runAt === undefined ? { ...row, run_at: null } : { ...row, wait_ms: null },
      )
      expect(seen).toEqual(jobs.map(expected))
      // The first one after a silence goes alone, those of tenants come later: what is known about a tenant is asked first.
      const together = rows.filter(({ tenant }) => tenant === null).slice(1)
      expect(new Set(together.map(({ commit }) => commit)).size, 'commits').toBeLessThanOrEqual(1)
    }),
    { numRuns: 60 },
  )
})

test('in a list of which some have keys, every job has its own key, tenant and payload', async () => {
  const payload = fc.record({
    key: fc.option(awkwardText, { nil: null }),
    tenant: fc.oneof(fc.constant('acme'), awkwardText),
    value: storableJson(2),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(payload, { minLength: 1, maxLength: 30 }), async (payloads) => {
      await t.sql('delete from millrace.job')
      const results = await millrace.enqueueMany(keyed, payloads)
      const rows = await rowsOf(results.map(({ id }) => id))
      expect(rows.length).toBe(payloads.length)
      const holders = new Map<string, string>()
      payloads.forEach((each, i) => {
        const { status, id } = results[i] as (typeof results)[number]
        const holder = each.key === null ? undefined : JSON.stringify([each.tenant, each.key])
        const first = holder === undefined ? undefined : holders.get(holder)
        expect({ status, id }).toEqual(
          first === undefined ? { status: 'queued', id } : { status: 'duplicate', id: first },
        )
        if (first !== undefined) return
        if (holder !== undefined) holders.set(holder, id)
        expect(rows[i]).toMatchObject({
          tenant: each.tenant,
          dedup_key: each.key,
          payload: asJson(each),
          wait_ms: 0,
        })
      })
    }),
    { numRuns: 40 },
  )
})
