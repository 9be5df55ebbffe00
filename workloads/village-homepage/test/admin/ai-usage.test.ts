import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { adminSetup } from '../support/admin.ts'
import { addItems, addSource, ledgers, setMonth } from '../support/articles.ts'

const PATH = '/admin/api/ai-usage'
const thisMonth = () => new Date().toISOString().slice(0, 7)

test('this month: what was spent, what that means, and what is still to do', async () => {
  await using t = await adminSetup()
  const token = await t.token('viewer')
  const [year, month] = thisMonth().split('-').map(Number) as [number, number]
  const empty = {
    ...{ month: thisMonth(), provider: 'anthropic', totalRequests: 0, totalTokensInput: 0, totalTokensOutput: 0 },
    ...{ estimatedCostCents: 0, budgetLimitCents: 50_000, limitFrom: 'code', percentUsed: 0 },
    ...{ budgetAction: 'NORMAL', batchSize: 20, untaggedItems: 0, forecastCents: 0 },
    resetsAt: new Date(Date.UTC(year, month, 1)).toISOString(),
  }
  expect(await t.call(`GET ${PATH}`, { token })).toMatchObject({ status: 200, body: empty })
  await addItems(t, 2)
  await setMonth(t, { limitCents: 1_000, spentCents: 765.4321 })
  const { body } = await t.call(`GET ${PATH}`, { token })
  expect(body).toMatchObject({
    ...{ estimatedCostCents: 765.4321, budgetLimitCents: 1_000, limitFrom: 'source', percentUsed: 76.54 },
    ...{ budgetAction: 'REDUCE', batchSize: 10, untaggedItems: 2 },
  })
  expect(body.forecastCents).toBeGreaterThanOrEqual(765.43)
})

test('the months before, newest first, each with its sources', async () => {
  await using t = await adminSetup()
  const token = await t.token('viewer')
  const source = await addSource(t, 'Gazette')
  await addItems(t, [{ source }, { source }])
  await runJob(t.handler('AI_TAGGING'), {}, { millrace: t.millrace })
  await t.sql(
    `insert into ai_usage_tracking (month, provider, total_requests, estimated_cost_cents, budget_limit_cents)
     select date_trunc('month', current_date) - n * interval '1 month', 'anthropic', n, 100 * n, 500
     from generate_series(1, 14) n`,
  )
  const { provider } = await ledgers(t)
  const { body } = await t.call(`GET ${PATH}/history?months=12`, { token })
  expect(body.months).toHaveLength(12)
  expect(body.months[0]).toMatchObject({
    ...{ month: thisMonth(), totalRequests: 2, estimatedCostCents: provider / 10_000 },
    bySource: [{ source_id: source, name: 'Gazette', costCents: provider / 10_000, calls: 2 }],
  })
  expect(body.months[11]).toMatchObject({
    totalRequests: 11,
    estimatedCostCents: 1_100,
    percentUsed: 220,
    bySource: [],
  })
  expect((await t.call(`GET ${PATH}/history`, { token })).body.months).toHaveLength(12)
  for (const months of ['0', '121', '1.5', 'all'])
    expect(await t.call(`GET ${PATH}/history?months=${months}`, { token })).toMatchObject({ status: 400 })
})

test('a limit of this month counts at once, before one that was set by hand, and a job that waits is due', async () => {
  await using t = await adminSetup()
  const token = await t.token('operator')
  await addItems(t, 1)
  await setMonth(t, { limitCents: 1_000, spentCents: 950 })
  await t.millrace.budgets.adjust('ai-tagging', { limit: 9_600_000, by: 'ann' })
  const held = await runJob(t.handler('AI_TAGGING'), {}, { millrace: t.millrace })
  expect(held).toMatchObject({ outcome: 'snoozed' })
  const path = `${PATH}/${thisMonth()}/budget`
  const changed = await t.call(`PATCH ${path}`, { token, body: { budgetLimitCents: 75_000 } })
  expect(changed).toMatchObject({
    status: 200,
    body: { budgetLimitCents: 75_000, limitFrom: 'source', percentUsed: 1.27, isCurrent: true },
  })
  const [job] = await t.sql('select run_at <= now() as is_due from millrace.job where type = $1', ['AI_TAGGING'])
  expect(job).toEqual({ is_due: true })
  const audit = await t.millrace.audit.list({ limit: 5 })
  expect(audit).toContainEqual(
    expect.objectContaining({ by: 'operator 1', action: 'ai-usage.limit', details: { budgetLimitCents: 75_000 } }),
  )
  const back = await t.call(`PATCH ${path}`, { token, body: { budgetLimitCents: null } })
  expect(back.body).toMatchObject({ budgetLimitCents: 50_000, limitFrom: 'code' })
})

test('a month that is not running can have a limit, and bad months, amounts and callers are refused', async () => {
  await using t = await adminSetup()
  const token = await t.token('operator')
  const set = (month: string, body: unknown, by = token) => t.call(`PATCH ${PATH}/${month}/budget`, { token: by, body })
  expect(await set('2025-01', { budgetLimitCents: 75_000 })).toMatchObject({
    status: 200,
    body: { month: '2025-01', budgetLimitCents: 75_000, estimatedCostCents: 0, isCurrent: false },
  })
  for (const month of ['2025-13', '2025-1', 'now', '25-01'])
    expect(await set(month, { budgetLimitCents: 1 })).toMatchObject({ status: 400 })
  for (const body of [{ budgetLimitCents: -1 }, { budgetLimitCents: '75000' }, {}, { budgetLimitCents: 1e12 }])
    expect(await set('2025-01', body)).toMatchObject({ status: 400 })
  expect(await set('2025-01', { budgetLimitCents: 1 }, await t.token('viewer'))).toMatchObject({ status: 403 })
  expect(await t.call(`GET ${PATH}`)).toMatchObject({ status: 401 })
  expect(await t.call(`GET ${PATH}/history`)).toMatchObject({ status: 401 })
  const [kept] = await t.sql('select budget_limit_cents::float8 as cents from ai_usage_tracking')
  expect(kept).toEqual({ cents: 75_000 })
})
