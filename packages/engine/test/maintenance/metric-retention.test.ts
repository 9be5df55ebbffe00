import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { MetricRollUp } from '#src/maintenance/metric-roll-up'
import { hands } from '../support/hands.ts'

const task = defineJob({ type: 'task', queue: defineQueues({ default: {} }).default, payload: z.object({}) })

test('minutes of metrics are forgotten after 30 days, those of tenants after a day', async () => {
  await using t = await hands([task])
  const insert = `
    insert into millrace.metric_minute
    select minute, 'a', 'task', 'completed', 1, 1, '{1}', 1, '{1}' from unnest($1::timestamptz[]) as minute`
  const ofTenants = `
    insert into millrace.metric_tenant_minute
    select minute, 'a', 'acme', 1, 1, '{1}' from unnest($1::timestamptz[]) as minute`
  const ago = (hours: number) => new Date((t.clock.databaseNow() ?? new Date()).getTime() - hours * 3_600_000)
  const minutes = [[ago(1), ago(25), ago(29 * 24), ago(31 * 24)].map((at) => at.toISOString())]
  await t.sql(insert, minutes)
  await t.sql(ofTenants, minutes)
  const rollUp = new MetricRollUp(t)
  while (await rollUp.tick());
  const housekeeper = new Housekeeper({ db: t.db, clock: t.clock, registry: new Registry([task]) })
  expect(await housekeeper.tick()).toMatchObject({ metricsForgotten: 3 })
  expect(await t.sql('select count(*)::int from millrace.metric_minute')).toEqual([{ count: 3 }])
  expect(await t.sql('select count(*)::int from millrace.metric_tenant_minute')).toEqual([{ count: 1 }])
})
