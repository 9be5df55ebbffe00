// Worker processes that are killed while they tag: eight jobs at once, on a dollar.
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { endWorker } from 'millrace'
import { expect, test } from 'vitest'
import { Program } from '../../../../packages/cli/test/support/program.ts'
import { addItems, itemStates, ledgers, setMonth } from '../support/articles.ts'
import { setup, type Village } from '../support/setup.ts'

const MODULE = fileURLToPath(new URL('../../dist/src/index.js', import.meta.url))

const KILLS = 3

/** A worker of a pod of its own, which knows the sandbox as if it were the real service. */
async function startWorker(t: Village) {
  const before = new Set((await t.millrace.workers.list()).map(({ id }) => id))
  const program = new Program(['work', MODULE, '--queues', 'BULK'], {
    DATABASE_URL: t.url,
    ANTHROPIC_API_KEY: 'sandbox',
    ANTHROPIC_BASE_URL: t.sandbox.urlOf('anthropic'),
    VILLAGECOMPUTE_EGRESS_ALLOW: t.sandbox.address,
    PAGERDUTY_INTEGRATION_KEY: 'sandbox',
    SLACK_OPS_WEBHOOK: `${t.sandbox.urlOf('slack')}/ops-alerts`,
    SMTP_URL: t.sandbox.smtpUrl,
    PORT: '0',
  })
  await program.logged(({ msg }) => msg === 'running')
  const worker = (await t.millrace.workers.list()).find(({ id }) => !before.has(id))
  if (worker === undefined) throw new Error('The worker is not in the list of workers.')
  return {
    /** Nobody tells the other processes but this test: otherwise the lease would have to run out. */
    async kill() {
      program.signalGroup('SIGKILL')
      await program.ended()
      await endWorker(t.url, worker.id, { reason: 'killed by the test' })
    },
  }
}

/** Resolves when the provider has billed so many calls: somewhere between two records, or between record and count. */
async function billed(t: Village, count: number): Promise<void> {
  // The provider is no process that could tell an event.
  while (t.sandbox.anthropic.billed.length < count) await new Promise((resolve) => setTimeout(resolve, 2))
}

test('workers that are killed again and again while eight jobs run never spend more than the budget', async () => {
  await using t = await setup({ sandbox: { latencyMs: 20 } })
  // More than a dollar's worth, though each kill costs the bounds of up to eight calls in flight.
  await addItems(t, 500)
  await setMonth(t, { limitCents: 100 })
  const ended = new Set<string>()
  for (let i = 0; i < 8; i++)
    await t.millrace.enqueue(t.parts.contracts.AI_TAGGING, { trigger: 'manual' }, { dedupKey: randomUUID() })
  for (let kills = 1; kills <= KILLS; kills++) {
    const worker = await startWorker(t)
    await billed(t, t.sandbox.anthropic.billed.length + 4)
    await worker.kill()
    const { calls } = await ledgers(t)
    // What a call in flight has cost stands there before it is made.
    expect(t.sandbox.anthropic.microdollars).toBeLessThanOrEqual(calls)
    expect((await t.millrace.budgets.get('ai-tagging')).spent).toBe(calls)
  }
  await startWorker(t)
  while (ended.size < 8) {
    const jobs = await t.sql<{ id: string; status: string }>(
      `select id, status from millrace.jobs where type = 'AI_TAGGING' and (finished_at is not null or run_at > now() + interval '30 s')`,
    )
    for (const { id } of jobs) ended.add(id)
    await new Promise((resolve) => setTimeout(resolve, 50)) // the workers are other processes, and their events stay there
  }
  const { usage, calls, provider } = await ledgers(t)
  expect(provider).toBeLessThanOrEqual(1_000_000)
  expect(calls).toBeLessThanOrEqual(1_000_000)
  expect(provider).toBeLessThanOrEqual(calls)
  expect(usage + (await uncountedCost(t))).toBe(calls)
  // Only the calls in flight at a kill may differ: each is counted at its bound.
  const [{ begun } = { begun: 0 }] = await t.sql<{ begun: number }>(
    "select count(*)::integer as begun from village.ai_calls where outcome = 'begun'",
  )
  expect(begun).toBeLessThanOrEqual(KILLS * 8)
  const twice = await t.sql(
    "select item_id from village.ai_calls where outcome = 'tagged' group by item_id having count(*) > 1",
  )
  expect(twice).toEqual([])
  expect((await itemStates(t)).some(({ ai_tagged }) => ai_tagged)).toBe(true)
}, 120_000)

async function uncountedCost(t: Village): Promise<number> {
  const [row] = await t.sql<{ cost: string }>(
    'select coalesce(sum(cost_microdollars), 0) as cost from village.ai_calls where not counted',
  )
  return Number(row?.cost)
}
