import { readFile } from 'node:fs/promises'
import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { RETENTIONS } from '#src/maintenance/retention'
import { hands } from '../support/hands.ts'

const task = defineJob({ type: 'task', queue: defineQueues({ default: {} }).default, payload: z.object({}) })
const kept = async (t: Awaited<ReturnType<typeof hands>>) =>
  (await t.sql<{ action: string }>('select action from millrace.audit_log order by id')).map(({ action }) => action)

test('entries of the audit log are forgotten after 400 days', async () => {
  await using t = await hands([task])
  const housekeeper = new Housekeeper({ db: t.db, clock: t.clock, registry: new Registry([task]) })
  for (const [action, days] of Object.entries({ old: 401, older: 500, young: 399, new: 0 }))
    await t.sql(
      `insert into millrace.audit_log (at, actor, action) values ($1::timestamptz - $2::int * interval '1 day', 'ann', $3)`,
      [t.clock.now(), days, action],
    )
  expect(await housekeeper.tick()).toMatchObject({ auditForgotten: 2 })
  expect(await kept(t)).toEqual(['young', 'new'])
  t.clock.advance('2d')
  expect(await housekeeper.tick()).toMatchObject({ auditForgotten: 1 })
})

test('a pass that forgets as much as it may is followed by another one', async () => {
  await using t = await hands([task])
  const housekeeper = new Housekeeper({ db: t.db, clock: t.clock, registry: new Registry([task]) })
  await t.sql(
    `insert into millrace.audit_log (at, actor, action) select '2020-01-01', 'ann', 'x' from generate_series(1, 5005)`,
  )
  const first = await housekeeper.tick()
  expect([first.auditForgotten, housekeeper.delayAfter(first)]).toEqual([5_000, 0])
  const second = await housekeeper.tick()
  expect([second.auditForgotten, housekeeper.delayAfter(second)]).toEqual([5, 3_600_000])
})

test('docs/operations.md says of every table how long its rows are kept', async () => {
  const page = await readFile(new URL('../../../../docs/operations.md', import.meta.url), 'utf8')
  const section = /## Retention\n([\s\S]*?)\n## /.exec(page)?.[1] ?? ''
  const tables = Object.values(RETENTIONS).flatMap((retention) => [...retention.tables])
  expect(tables.filter((table) => !section.includes(`\`${table}\``))).toEqual([])
  expect(tables.length).toBeGreaterThan(15)
})
