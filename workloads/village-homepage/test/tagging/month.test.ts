// What happens by itself: the hourly tick, and mails when the month's money runs low.
import { createMillrace } from 'millrace'
import { fakeClock } from 'millrace/testing'
import { expect, test } from 'vitest'
import { addItems } from '../support/articles.ts'
import { escalating } from '../support/escalating.ts'
import { setup, silent, type Village } from '../support/setup.ts'

test('the hourly tick says that there is nothing to tag, or takes the number of items along', async () => {
  await using t = await setup()
  const schedules = t.village.schedules?.filter(({ name }) => name === 'ai-tagging') ?? []
  expect(schedules.map(({ when }) => when)).toMatchObject([{ expression: '0 * * * *' }])
  const millrace = createMillrace({ database: t.url, jobs: t.village.jobs, schedules, logger: silent })
  try {
    await millrace.work({ handlers: [t.handler('AI_TAGGING')] })
    const tick = () => millrace.schedules.run('ai-tagging', { by: 'ann' })
    expect(await tick()).toMatchObject({ outcome: 'skipped', reason: 'nothing to tag', jobId: null })
    await addItems(t, 3)
    const { jobId } = await tick()
    expect(await millrace.result(jobId ?? '')).toMatchObject({
      status: 'completed',
      result: { trigger: 'scheduled', tagged: 3, left: 0 },
    })
    expect((await millrace.job(jobId ?? ''))?.payload).toEqual({ trigger: 'scheduled', untagged_count: 3 })
    expect(await tick()).toMatchObject({ outcome: 'skipped' })
  } finally {
    await millrace.close()
  }
})

const OPS = 'ops@villagecompute.com'

async function spend(t: Village, month: string, { cents, limit }: { cents: number; limit: number }): Promise<void> {
  await t.sql(
    `insert into ai_usage_tracking (month, provider, estimated_cost_cents, budget_limit_cents)
     values ($1, 'anthropic', $2, $3)
     on conflict (month, provider) do update
     set estimated_cost_cents = excluded.estimated_cost_cents, budget_limit_cents = excluded.budget_limit_cents`,
    [`${month}-01`, cents, limit],
  )
}

test('mails at 75, 80, 90 and 100 %, once each, and again after a raise; a new month starts at nothing', async () => {
  await using t = await setup()
  const clock = fakeClock('2026-11-18T06:30:00Z')
  await using e = await escalating(t, { clock })
  const thresholds = () =>
    t.sandbox.mailboxes
      .of(OPS)
      .map(({ subject, text }) => /(\d+) %/.exec(`${subject} ${text}`)?.[1])
      .reverse()
  /** A job looks at the budget, and nothing else. */
  const look = async (mails: number) => {
    const { id } = await e.millrace.enqueue(
      t.parts.contracts.AI_TAGGING,
      {},
      { dedupKey: `look ${clock.now()} ${mails}` },
    )
    const over = ['job_completed', 'budget_hold', 'budget_hard_stop'] as const
    await Promise.race(over.map((name) => e.millrace.events.next(name, ({ job }) => job.id === id)))
    await e.until(() => thresholds().length >= mails)
  }
  await spend(t, '2026-11', { cents: 374, limit: 500 })
  await look(0)
  expect(thresholds()).toEqual([])
  for (const [cents, mails] of [
    [375, 1],
    [400, 2],
    [401, 2],
    [450, 3],
    [500, 4],
  ] as const) {
    await spend(t, '2026-11', { cents, limit: 500 })
    await look(mails)
  }
  expect(thresholds()).toEqual(['75', '80', '90', '100'])
  await spend(t, '2026-11', { cents: 500, limit: 1_000 })
  await look(4)
  await spend(t, '2026-11', { cents: 760, limit: 1_000 })
  await look(5)
  expect(thresholds()).toEqual(['75', '80', '90', '100', '75'])
  clock.moveTo('2026-12-01T00:00:01Z')
  expect(await e.millrace.budgets.get('ai-tagging')).toMatchObject({ period: '2026-12', spent: 0, level: 'NORMAL' })
})
