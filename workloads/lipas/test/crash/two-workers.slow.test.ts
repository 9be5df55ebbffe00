// Two worker processes drain 2,000 jobs; then once more, and one of them is killed in the middle.
import { expect, test, vi } from 'vitest'
import { holdAll } from '../support/hold.ts'
import { type Lipas, setup } from '../support/lipas.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const JOBS = 2_000
const ANALYSES = 160
const LEASE = ['--lease', 'heartbeat=2s', '--lease', 'ttl=15s', '--lease', 'sweep=2s']

async function fill(t: Lipas): Promise<void> {
  await t.millrace.limits.set('mail', { rate: '1000/second' }, { by: 'test' })
  const places = await t.sql<{ id: number }>(
    'select lipas_id as id from lipas.sports_site order by length(geometries::text) desc, lipas_id limit $1',
    [ANALYSES],
  )
  const job = (type: string, payload: object) => ({ job: t.handler(type).contract, payload })
  const analyses = places.map(({ id }) => job('analysis', { 'lipas-id': id }))
  const mails = Array.from({ length: JOBS - ANALYSES }, (_, i) => job('email', { to: `user-${i}@example.com` }))
  await t.millrace.enqueueMany([...analyses, ...mails] as never)
}

const count = async (t: Lipas, where: string): Promise<number> => {
  const [row] = await t.sql<{ count: number }>(
    `select count(*)::int as count from millrace.jobs where type in ('analysis', 'email') and ${where}`,
  )
  return row?.count ?? 0
}

/** By the sandbox's calls: every job makes some. */
async function until(t: Lipas, jobs: number): Promise<void> {
  while ((await count(t, "status in ('completed', 'dead')")) < jobs) {
    const { received } = t.sandbox
    const seen = received.calls[0]
    await Promise.race([
      received.until(() => received.calls[0] !== seen),
      // The last jobs end after their last call.
      new Promise((resolve) => setTimeout(resolve, 200)),
    ])
  }
}

const events = async (t: Lipas, event: 'claimed' | 'rescued'): Promise<number> => {
  const [row] = await t.sql<{ count: number }>(
    `select count(*)::int as count from millrace.job_event join millrace.jobs on jobs.id = job_id
     where event = $1 and type in ('analysis', 'email')`,
    [event],
  )
  return row?.count ?? 0
}

const cells = (t: Lipas) =>
  t.sql('select cell_id, index, categories, nearest from lipas.diversity_cell order by cell_id')

test('two processes run 2,000 jobs once each, and the same if one is killed midway', { timeout: 400_000 }, async () => {
  await using undisturbed = await setup({ hasSampleData: true })
  await fill(undisturbed)
  const pair = [startWorkerProcess(undisturbed), startWorkerProcess(undisturbed)]
  await until(undisturbed, JOBS)
  expect(await count(undisturbed, "status = 'completed' and attempts = 1")).toBe(JOBS)
  expect(await events(undisturbed, 'claimed')).toBe(JOBS)
  // MAIL FROM, and the mail itself: every mail was sent once.
  expect(undisturbed.sandbox.received.count('smtp')).toBe(2 * (JOBS - ANALYSES))
  for (const each of pair) each.signal('SIGTERM')
  for (const each of pair) expect(await each.ended()).toMatchObject({ code: 0 })

  await using disturbed = await setup({ hasSampleData: true })
  await fill(disturbed)
  const [doomed, survivor] = [startWorkerProcess(disturbed, LEASE), startWorkerProcess(disturbed, LEASE)]
  const isWorking = async () => (await disturbed.millrace.workers.list()).length === 2
  await vi.waitUntil(isWorking, { timeout: 60_000, interval: 50 })
  // A process has five slots for analyses: with six of them held, both are in the middle of some.
  const held = holdAll(disturbed.sandbox.search, ({ path }) => path.endsWith('/_bulk'))
  await vi.waitUntil(() => held.count() > 5, { timeout: 60_000, interval: 20 })
  doomed.signal('SIGKILL')
  await doomed.ended()
  held.open()
  await until(disturbed, JOBS)
  expect(await count(disturbed, "status = 'completed'")).toBe(JOBS)
  expect(await events(disturbed, 'rescued')).toBeGreaterThan(0)
  survivor.signal('SIGTERM')
  await survivor.ended()

  const expected = await cells(undisturbed)
  expect(expected.length).toBeGreaterThan(900)
  expect(await cells(disturbed)).toEqual(expected)
})
