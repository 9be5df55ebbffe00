// The wait of e-mails beside real analyses, with the sandbox in its own process.
import { expect, test } from 'vitest'
import { analysis, email } from '#src/contracts'
import { startSandboxProcess } from '#src/sandbox/start'
import { eventually } from '../../../packages/engine/test/support/setup.ts'
import { setup } from './support/lipas.ts'

test('with five analyses running and two hundred waiting, twenty e-mails all start within a second', {
  timeout: 120_000,
}, async () => {
  const sandbox = await startSandboxProcess({ SANDBOX_MISBEHAVES: 'false' }, 0)
  try {
    await using t = await setup({
      env: { ...sandbox.variables, LIPAS_DISTANCE_MODE: 'euclid' } as Record<string, string>,
      hasSampleData: true,
    })
    const sites = await t.sql<{ id: number }>('select lipas_id as id from lipas.sports_site order by 1 limit 205')
    const worker = await t.work({ gracePeriod: '1s' })
    await t.millrace.enqueueMany(
      analysis,
      sites.map(({ id }) => ({ 'lipas-id': id })),
    )
    await eventually(async () => worker.lanes.some(({ name, running }) => name === 'general' && running === 5))
    const mails = await t.millrace.enqueueMany(
      email,
      Array.from({ length: 20 }, (_, i) => ({ to: `user${i}@example.com` })),
    )
    for (const { id } of mails) expect(await t.millrace.result(id)).toMatchObject({ status: 'completed' })
    const [waits] = await t.sql<{ most: string }>(
      `select max(queue_time_ms) as most from millrace.job_metrics where job_type = 'email'`,
    )
    expect(Number(waits?.most)).toBeLessThan(1_000)
    expect(
      await t.sql(`select 1 from millrace.jobs where type = 'analysis' and status in ('pending', 'processing')`),
    ).not.toEqual([])
  } finally {
    await sandbox.stop()
  }
})
