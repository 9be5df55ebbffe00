import { randomUUID } from 'node:crypto'
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { setup, type Village } from '../support/setup.ts'

const NOW = new Date('2026-11-18T10:05:00Z')
const ITEM = '5f0f6f2e-6f0c-4c58-9d3a-0e1f5b7a9c11'

const village = () => setup({ clock: { now: () => NOW } })
const rollUp = (t: Village, payload = {}) =>
  runJob(t.handler('CLICK_ROLLUP'), payload, { millrace: t.millrace, dedupKey: randomUUID() })

async function visitor(t: Village, analytics = true): Promise<string> {
  const id = randomUUID()
  await t.sql(`insert into village.visitor_consents (visitor_id, analytics, policy_version) values ($1, $2, '1')`, [
    id,
    analytics,
  ])
  return id
}

const click = (t: Village, by: string, at: string) =>
  t.sql(
    `insert into village.link_clicks (target_kind, target_id, visitor_id, clicked_at, consented) values ('item', $1, $2, $3, true)`,
    [ITEM, by, at],
  )

const counts = (t: Village) =>
  t.sql(
    `select to_char(hour at time zone 'UTC', 'DD HH24') as hour, clicks, visitors from village.click_rollups order by click_rollups.hour`,
  )

test('hours that are over are counted, with their visitors; twice is once, and a late click is added', async () => {
  await using t = await village()
  const [ann, bob] = [await visitor(t), await visitor(t)]
  await click(t, ann, '2026-11-18T08:10:00Z')
  await click(t, ann, '2026-11-18T08:50:00Z')
  await click(t, bob, '2026-11-18T08:59:59Z')
  await click(t, bob, '2026-11-18T09:00:00Z')
  await click(t, bob, '2026-11-18T10:01:00Z')
  const expected = [
    { hour: '18 08', clicks: 3, visitors: 2 },
    { hour: '18 09', clicks: 1, visitors: 1 },
  ]
  expect(await rollUp(t)).toMatchObject({ outcome: 'completed', result: { hours: 2, rows: 2, deleted: 0 } })
  expect(await counts(t)).toEqual(expected)
  expect(await rollUp(t)).toMatchObject({ result: { hours: 3, rows: 2, deleted: 0 } })
  expect(await counts(t)).toEqual(expected)
  await click(t, ann, '2026-11-18T08:30:00Z')
  await rollUp(t)
  expect(await counts(t)).toMatchObject([{ clicks: 4, visitors: 2 }, { clicks: 1 }])
})

test('whoever withdraws is forgotten, and hours in which nobody else clicked are no longer counted', async () => {
  await using t = await village()
  const ann = await visitor(t)
  await click(t, ann, '2026-11-18T09:10:00Z')
  await rollUp(t)
  await t.sql('update village.visitor_consents set analytics = false')
  expect(await rollUp(t)).toMatchObject({ result: { rows: 0, deleted: 1 } })
  expect(await counts(t)).toEqual([])
  expect(await t.sql('select id from village.link_clicks')).toEqual([])
})

test('after 90 days single clicks are gone, and their counts stay, even if those hours are asked for again', async () => {
  await using t = await village()
  const ann = await visitor(t)
  await click(t, ann, '2026-08-19T09:10:00Z')
  await click(t, ann, '2026-08-20T11:10:00Z')
  await t.sql(`insert into village.click_rollups values ('2026-08-19T09:00:00Z', 'item', $1, 7, 3)`, [ITEM])
  expect(await rollUp(t)).toMatchObject({ result: { deleted: 1 } })
  expect(await t.sql('select clicked_at from village.link_clicks')).toHaveLength(1)
  await rollUp(t, { from_hour: '2026-08-01T00:00:00Z' })
  expect(await counts(t)).toEqual([
    { hour: '19 09', clicks: 7, visitors: 3 },
    { hour: '20 11', clicks: 1, visitors: 1 },
  ])
})

test('a click without consent cannot be stored', async () => {
  await using t = await village()
  const insert = (by: string, consented: boolean) =>
    t.sql(
      `insert into village.link_clicks (target_kind, target_id, visitor_id, consented) values ('item', $1, $2, $3)`,
      [ITEM, by, consented],
    )
  await expect(insert(await visitor(t), false)).rejects.toThrow('link_clicks_consent_check')
  await expect(insert(randomUUID(), true)).rejects.toThrow('link_clicks_visitor_id_fkey')
})
